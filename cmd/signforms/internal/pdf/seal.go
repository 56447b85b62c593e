package pdf

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/smallstep/pkcs7"
)

// Sealer signs finished files with its own key. Its certificate is self-signed, so a viewer shows
// that the file was not changed, and that the identity of the sealer is not verified. A Sealer is
// safe for concurrent use.
type Sealer struct {
	key         *ecdsa.PrivateKey
	certificate *x509.Certificate
}

// sealerName is the name in the certificate of a seal.
const sealerName = "signforms sandbox, not legally binding"

// NewSealer makes a sealer with a new key (ECDSA P-256) and a certificate that is valid for 30 years from now.
func NewSealer(now time.Time) (*Sealer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: sealerName},
		NotBefore:             now.Add(-24 * time.Hour),
		NotAfter:              now.AddDate(30, 0, 0),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageContentCommitment,
		BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &Sealer{key: key, certificate: certificate}, nil
}

// MarshalText returns the key and the certificate as PEM. The text is a secret.
func (s *Sealer) MarshalText() ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(s.key)
	if err != nil {
		return nil, err
	}
	key := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	return append(key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.certificate.Raw})...), nil
}

// UnmarshalText reads the result of MarshalText.
func (s *Sealer) UnmarshalText(text []byte) error {
	keyBlock, rest := pem.Decode(text)
	certificateBlock, _ := pem.Decode(rest)
	if keyBlock == nil || certificateBlock == nil {
		return errors.New("pdf: a sealer's text holds a private key and a certificate in PEM")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(keyBlock.Bytes)
	if err != nil {
		return errors.New("pdf: the sealer's private key cannot be read")
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok {
		return errors.New("pdf: the sealer's private key is not an ECDSA key")
	}
	certificate, err := x509.ParseCertificate(certificateBlock.Bytes)
	if err != nil {
		return fmt.Errorf("pdf: the sealer's certificate cannot be read: %w", err)
	}
	if !key.PublicKey.Equal(certificate.PublicKey) {
		return errors.New("pdf: the sealer's certificate belongs to another key")
	}
	if err := certificate.CheckSignature(certificate.SignatureAlgorithm, certificate.RawTBSCertificate, certificate.Signature); err != nil {
		return fmt.Errorf("pdf: the sealer's certificate is not as it was made: %w", err)
	}
	s.key, s.certificate = key, certificate
	return nil
}

// String keeps the key out of logs.
func (s *Sealer) String() string { return "pdf.Sealer(redacted)" }

// contentsSize is how many bytes are reserved for the seal. Unused bytes stay zero.
const contentsSize = 8192

// sealed has the offsets of the two parts of a seal that depend on the whole file.
type sealed struct{ byteRange, contents int }

// placeholder reserves the space for the byte range of a seal until the file is written.
var placeholder = strings.Repeat(" ", len("[0 9999999999 9999999999 9999999999]"))

// putSeal writes the dictionary of the seal, and its field: an invisible widget on a page.
func (u *update) putSeal(at time.Time, page value, field object) (s sealed) {
	signature := object{number: u.number()}
	u.begin(signature)
	u.out = append(u.out, "<</Type/Sig/Filter/Adobe.PPKLite/SubFilter/ETSI.CAdES.detached/ByteRange"...)
	s.byteRange = len(u.out)
	u.out = append(append(u.out, placeholder...), "/Contents"...)
	s.contents = len(u.out)
	u.out = fmt.Appendf(u.out, "<%s>/M(%s)/Name(%s)/Reason(All signers have signed)>>\nendobj\n", strings.Repeat("0", 2*contentsSize), pdfDate(at), sealerName)
	hash := sha256.Sum256(u.data) // no field of the file has a name with this hash
	u.put(field, fmt.Appendf(nil, "<</Type/Annot/Subtype/Widget/FT/Sig/T(SandboxSeal-%x)/F 132/Rect[0 0 0 0]/P %s/V %d 0 R>>", hash[:6], page, signature.number))
	return s
}

// putForm adds the field of the seal to the form of the document, which keeps its other entries. It returns the catalog.
func (u *update) putForm(catalog dict, field object) dict {
	form := u.form()
	fields := append(u.array(form.get("Fields")), referenceTo(field.number, 0))
	form = form.with("Fields", array(fields...)).with("SigFlags", value("3")) // signatures exist; append only
	if number, generation, ok := catalog.get("AcroForm").reference(); ok {
		u.put(object{number: number, generation: generation}, form.text())
		return catalog
	}
	return catalog.with("AcroForm", form.text())
}

// fill writes the byte range, and the signature of all other bytes of the file, into the reserved
// space.
func (s sealed) fill(file []byte, sealer *Sealer) error {
	end := s.contents + 2*contentsSize + len("<>")
	copy(file[s.byteRange:], fmt.Sprintf("[0 %d %d %d]", s.contents, end, len(file)-end))
	after := bytes.Clone(file[end:])
	copy(file[s.contents:], after) // moved for a moment, so that a large file need not be copied for signing
	signature, err := sealer.sign(file[:s.contents+len(after)])
	copy(file[s.contents:], "<"+strings.Repeat("0", 2*contentsSize)+">")
	copy(file[end:], after)
	if err != nil {
		return fmt.Errorf("pdf: sealing: %w", err)
	}
	if len(signature) > contentsSize {
		return fmt.Errorf("pdf: the seal takes %d bytes, more than the %d there are", len(signature), contentsSize)
	}
	hex.Encode(file[s.contents+1:], signature)
	return nil
}

// sign returns the detached CMS signature of content.
func (s *Sealer) sign(content []byte) ([]byte, error) {
	signed, err := pkcs7.NewSignedData(content)
	if err != nil {
		return nil, err
	}
	signed.SetDigestAlgorithm(pkcs7.OIDDigestAlgorithmSHA256)
	config := pkcs7.SignerInfoConfig{ExtraSignedAttributes: []pkcs7.Attribute{s.signingCertificate()}}
	if err := signed.AddSigner(s.certificate, s.key, config); err != nil {
		return nil, err
	}
	signed.Detach()
	return signed.Finish()
}

// signingCertificate returns the attribute signing-certificate-v2 of RFC 5035, which ETSI.CAdES.detached requires.
func (s *Sealer) signingCertificate() pkcs7.Attribute {
	type certID struct {
		Hash []byte // the hash is SHA-256, the default
	}
	type signingCertificateV2 struct {
		Certs []certID
	}
	hash := sha256.Sum256(s.certificate.Raw)
	return pkcs7.Attribute{
		Type:  asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 47},
		Value: signingCertificateV2{Certs: []certID{{Hash: hash[:]}}},
	}
}
