package pdf

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5" //nolint:gosec // the format says so; nothing is kept safe with it here
	"crypto/rc4" //nolint:gosec // likewise
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
)

// fileKey opens a document that everybody may read, and that is encrypted only so
// that programs heed what its author forbids: the password is the empty one.
type fileKey struct {
	key []byte
	// aes, else RC4; whole keys serve every object alike (AES-256).
	aes, whole bool
	// none: streams are not encrypted.
	none bool
}

// padding stands in for a password, ISO 32000-1, 7.6.3.3.
const padding = "\x28\xBF\x4E\x5E\x4E\x75\x8A\x41\x64\x00\x4E\x56\xFF\xFA\x01\x08\x2E\x2E\x00\xB6\xD0\x68\x3E\x80\x2F\x0C\xA9\xFE\x64\x53\x69\x7A"

// unlock finds the key of an encrypted document, if it opens without a password.
func (d *Document) unlock() error {
	encrypt := d.trailer["Encrypt"]
	if encrypt == nil || d.key != nil {
		return nil
	}
	e := d.dict(encrypt)
	if handler, _ := d.resolve(e["Filter"]).(name); handler != "Standard" {
		return ErrEncrypted
	}
	version, _ := d.resolve(e["V"]).(int)
	k := &fileKey{}
	length := 40
	if n, ok := d.resolve(e["Length"]).(int); ok && version > 1 {
		length = n
	}
	switch version {
	case 1, 2:
	case 4, 5:
		filter, _ := d.resolve(e["StmF"]).(name)
		method, _ := d.resolve(d.dict(d.dict(e["CF"])[filter])["CFM"]).(name)
		switch method {
		case "AESV2", "AESV3":
			k.aes, k.whole, length = true, method == "AESV3", 128
		case "V2":
			length = 128
		default:
			k.none = true
		}
	default:
		return ErrEncrypted
	}
	if length < 40 || length > 128 || length%8 != 0 {
		return ErrEncrypted
	}
	var ok bool
	if version == 5 {
		ok = k.fromHash(d, e)
	} else {
		ok = k.fromPadding(d, e, length/8)
	}
	if !ok {
		return ErrEncrypted
	}
	d.key = k
	d.forget()
	return nil
}

// fromPadding is ISO 32000-1, algorithms 2, 4 and 5, for the empty password.
func (k *fileKey) fromPadding(d *Document, e dict, length int) bool {
	revision, _ := d.resolve(e["R"]).(int)
	owner, _ := d.resolve(e["O"]).(chars)
	user, _ := d.resolve(e["U"]).(chars)
	permissions, _ := d.resolve(e["P"]).(int)
	var id chars
	if ids, ok := d.resolve(d.trailer["ID"]).(array); ok && len(ids) > 0 {
		id, _ = d.resolve(ids[0]).(chars)
	}
	if len(owner) < 32 || len(user) < 16 || revision < 2 || revision > 4 {
		return false
	}
	h := md5.New() //nolint:gosec // see above
	h.Write([]byte(padding))
	h.Write([]byte(owner[:32]))
	h.Write(binary.LittleEndian.AppendUint32(nil, uint32(permissions)))
	h.Write([]byte(id))
	if plain, ok := d.resolve(e["EncryptMetadata"]).(bool); ok && !plain && revision >= 4 {
		h.Write([]byte{255, 255, 255, 255})
	}
	k.key = h.Sum(nil)[:length]
	if revision == 2 {
		k.key = k.key[:5]
		return string(rc4Of(k.key, []byte(padding))) == string(user)
	}
	for range 50 {
		sum := md5.Sum(k.key) //nolint:gosec // see above
		k.key = sum[:length]
	}
	sum := md5.Sum([]byte(padding + string(id))) //nolint:gosec // see above
	check := sum[:]
	for i := range 20 {
		mixed := bytes.Clone(k.key)
		for j := range mixed {
			mixed[j] ^= byte(i)
		}
		check = rc4Of(mixed, check)
	}
	return string(check) == string(user[:16])
}

func rc4Of(key, data []byte) []byte {
	c, err := rc4.NewCipher(key) //nolint:gosec // see above
	if err != nil {
		return nil
	}
	out := make([]byte, len(data))
	c.XORKeyStream(out, data)
	return out
}

// fromHash is ISO 32000-2, algorithm 2.A, for the empty password.
func (k *fileKey) fromHash(d *Document, e dict) bool {
	user, _ := d.resolve(e["U"]).(chars)
	wrapped, _ := d.resolve(e["UE"]).(chars)
	revision, _ := d.resolve(e["R"]).(int)
	if len(user) < 48 || len(wrapped) < 32 {
		return false
	}
	hash := func(salt chars) []byte {
		sum := sha256.Sum256([]byte(salt))
		if revision < 6 {
			return sum[:]
		}
		return hardened(sum[:])
	}
	if string(hash(user[32:40])) != string(user[:32]) {
		return false
	}
	block, err := aes.NewCipher(hash(user[40:48]))
	if err != nil {
		return false
	}
	k.key = make([]byte, 32)
	cipher.NewCBCDecrypter(block, make([]byte, aes.BlockSize)).CryptBlocks(k.key, []byte(wrapped[:32]))
	return true
}

// hardened is ISO 32000-2, algorithm 2.B, for the empty password.
func hardened(key []byte) []byte {
	for round := 0; ; round++ {
		text := bytes.Repeat(key, 64)
		block, err := aes.NewCipher(key[:16])
		if err != nil {
			return nil
		}
		cipher.NewCBCEncrypter(block, key[16:32]).CryptBlocks(text, text)
		sum := 0
		for _, c := range text[:16] {
			sum += int(c)
		}
		switch sum % 3 {
		case 0:
			s := sha256.Sum256(text)
			key = s[:]
		case 1:
			s := sha512.Sum384(text)
			key = s[:]
		default:
			s := sha512.Sum512(text)
			key = s[:]
		}
		if round >= 63 && int(text[len(text)-1]) <= round-31 {
			return key[:32]
		}
	}
}

// decrypted is the bytes of a stream as they were before the encryption.
func (d *Document) decrypted(s *stream) []byte {
	kind, _ := s.dict["Type"].(name)
	if d.key == nil || d.key.none || s.id.num == 0 || kind == "XRef" {
		// Filters may work in place; the file's own bytes must stay as they are.
		return bytes.Clone(s.raw)
	}
	key := d.key.key
	if !d.key.whole {
		salted := append(bytes.Clone(key), byte(s.id.num), byte(s.id.num>>8), byte(s.id.num>>16), byte(s.id.gen), byte(s.id.gen>>8))
		if d.key.aes {
			salted = append(salted, "sAlT"...)
		}
		sum := md5.Sum(salted) //nolint:gosec // see above
		key = sum[:min(len(key)+5, len(sum))]
	}
	if !d.key.aes {
		return rc4Of(key, s.raw)
	}
	block, err := aes.NewCipher(key)
	if err != nil || len(s.raw) < 2*aes.BlockSize {
		return nil
	}
	text := bytes.Clone(s.raw[aes.BlockSize : len(s.raw)-len(s.raw)%aes.BlockSize])
	cipher.NewCBCDecrypter(block, s.raw[:aes.BlockSize]).CryptBlocks(text, text)
	if pad := int(text[len(text)-1]); pad >= 1 && pad <= aes.BlockSize {
		text = text[:len(text)-pad]
	}
	return text
}
