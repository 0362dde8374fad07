package external

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"time"
)

// mutualTLS makes the host's end of what go-plugin calls AutoMTLS: a certificate for one
// plug-in, which is told it in the environment variable PLUGIN_CLIENT_CERT (text) and admits
// nobody else. The plug-in's own comes with its handshake; until then, nobody is trusted.
//
// go-plugin's own is on the curve P-521, which takes ten times as long, and which gRPC on
// BoringSSL (that of Python's packages, of Node's) does not accept.
func mutualTLS() (config *tls.Config, text []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 128))
	if err != nil {
		return nil, nil, err
	}
	const name = "localhost"
	now := time.Now()
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, SerialNumber: serial,
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(10, 0, 0), // a debugger may run for long
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true, IsCA: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, nil, err
	}
	config = &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		RootCAs:      x509.NewCertPool(), ServerName: name, MinVersion: tls.VersionTLS12,
	}
	return config, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}
