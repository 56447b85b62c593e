package pdf

import (
	"bufio"
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
	"io"
	"math/big"
	"strings"
	"time"

	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
	"github.com/smallstep/pkcs7"
)

// Sealer signs finished files with its own key. Its certificate is self-signed: a viewer shows that the file was not
// changed, but that the identity of the sealer is not verified. It is safe for concurrent use.
type Sealer struct {
	key         *ecdsa.PrivateKey
	certificate *x509.Certificate
}

// sealerName is who seals.
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

// UnmarshalText reads what MarshalText returned.
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

// Placeholders for values that depend on the written file. They are filled in after the file is written.
const (
	contentsSize   = 8192 // bytes for the seal; unused bytes stay zero
	offsetTemplate = 9_999_999_999
)

// seal writes ctx with an invisible signature field over the whole file.
func (s *Sealer) seal(ctx *model.Context, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	if err := write(ctx, &out, at); err != nil {
		return nil, err
	}
	return s.fillIn(out.Bytes())
}

// write writes ctx with a field for the seal, and without the seal.
func write(ctx *model.Context, out io.Writer, at time.Time) error {
	if err := addField(ctx, at); err != nil {
		return fmt.Errorf("pdf: adding the seal: %w", err)
	}
	return writePlain(ctx, out)
}

func writePlain(ctx *model.Context, out io.Writer) error {
	ctx.Write.Writer = bufio.NewWriter(out)
	if err := errors.Join(pdfcpu.WriteContext(ctx), ctx.Write.Flush()); err != nil {
		return fmt.Errorf("pdf: writing: %w", err)
	}
	return nil
}

// addField adds the signature's dictionary, and its field with an invisible widget on the first page.
func addField(ctx *model.Context, at time.Time) error {
	signature, err := ctx.IndRefForNewObject(types.Dict{
		"Type":      types.Name("Sig"),
		"Filter":    types.Name("Adobe.PPKLite"),
		"SubFilter": types.Name("ETSI.CAdES.detached"),
		"ByteRange": types.Array{types.Integer(0), types.Integer(offsetTemplate), types.Integer(offsetTemplate), types.Integer(offsetTemplate)},
		"Contents":  types.HexLiteral(strings.Repeat("0", 2*contentsSize)),
		"M":         types.StringLiteral(pdfDate(at)),
		"Name":      types.StringLiteral(sealerName),
		"Reason":    types.StringLiteral("All signers have signed"),
	})
	if err != nil {
		return err
	}
	page, pageRef, _, err := ctx.PageDict(1, false)
	if err != nil {
		return err
	}
	widget, err := ctx.IndRefForNewObject(types.Dict{
		"Type":    types.Name("Annot"),
		"Subtype": types.Name("Widget"),
		"FT":      types.Name("Sig"),
		"T":       types.StringLiteral("SandboxSeal"),
		"F":       types.Integer(132), // printed and locked
		"Rect":    types.NewNumberArray(0, 0, 0, 0),
		"P":       *pageRef,
		"V":       *signature,
	})
	if err != nil {
		return err
	}
	if err := appendTo(ctx, page, "Annots", *widget); err != nil {
		return err
	}
	return addToForm(ctx, *widget)
}

// appendTo appends a reference to an array in a dictionary. The array may be missing or an indirect object.
func appendTo(ctx *model.Context, d types.Dict, key string, ref types.IndirectRef) error {
	have, ok := d.Find(key)
	if !ok {
		d[key] = types.Array{ref}
		return nil
	}
	array, err := ctx.DereferenceArray(have)
	if err != nil {
		return err
	}
	d[key] = append(append(types.Array{}, array...), ref)
	return nil
}

func addToForm(ctx *model.Context, widget types.IndirectRef) error {
	root, err := ctx.Catalog()
	if err != nil {
		return err
	}
	root["AcroForm"] = types.Dict{"SigFlags": types.Integer(3), "Fields": types.Array{widget}} // signatures exist; append only
	return nil
}

// fillIn fills the byte range into a written file, signs that range, and puts the signature into its placeholder.
func (s *Sealer) fillIn(file []byte) ([]byte, error) {
	placeholder := []byte("<" + strings.Repeat("0", 2*contentsSize) + ">")
	start := bytes.Index(file, placeholder)
	if start < 0 || bytes.Count(file, placeholder) != 1 {
		return nil, errors.New("pdf: the seal's place was not found in the written file")
	}
	end := start + len(placeholder)
	if err := fillRange(file, start, end); err != nil {
		return nil, err
	}
	signature, err := s.sign(append(append([]byte{}, file[:start]...), file[end:]...))
	if err != nil {
		return nil, fmt.Errorf("pdf: sealing: %w", err)
	}
	if len(signature) > contentsSize {
		return nil, fmt.Errorf("pdf: the seal takes %d bytes, more than the %d there are", len(signature), contentsSize)
	}
	hex.Encode(file[start+1:], signature)
	return file, nil
}

// fillRange overwrites the placeholder of ByteRange. The range covers the file before start and from end on.
func fillRange(file []byte, start, end int) error {
	template := fmt.Sprintf("[0 %d %d %d]", offsetTemplate, offsetTemplate, offsetTemplate)
	at := bytes.Index(file, []byte(template))
	if at < 0 {
		return errors.New("pdf: the seal's byte range was not found in the written file")
	}
	value := fmt.Sprintf("[0 %d %d %d]", start, end, len(file)-end)
	copy(file[at:], value+strings.Repeat(" ", len(template)-len(value)))
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
		Hash []byte // SHA-256, the default
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
