// Package oracle holds Garuda's wire formats against the providers' own SDKs.
//
// What our clients send must be what the SDKs' request types describe: no member
// that they do not know, none missing that they require, no value of another
// type, no enum word that they have no constant for. What providers answer must
// mean to our clients what it means to the SDKs: both read the same bytes, and
// text, thinking, calls, stop reason and usage must agree.
//
// It is a module of its own, so that nothing of the SDKs gets near the product.
// It has only tests, and asks no network.
package oracle
