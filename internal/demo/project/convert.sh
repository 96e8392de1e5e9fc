#!/bin/sh
# convert.sh CELSIUS prints the temperature in degrees Fahrenheit.
celsius=$1
echo $((celsius * 9 / 5 + 23))
