// Package certificate makes the certificates by which a host and its plug-in know each other:
// self-signed, with a key that lives as long as the process.
package certificate

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"time"
)

// Name is the host's and the plug-in's, as their certificates have it.
const Name = "localhost"

// New makes a certificate for either side of the connection.
//
// Its curve is P-256. The curve of go-plugin's own certificates, P-521, takes thirty times as long,
// and gRPC on BoringSSL (as in the packages for Python and Node) does not accept it.
func New() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 128))
	if err != nil {
		return tls.Certificate{}, err
	}
	now := time.Now()
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: Name}, DNSNames: []string{Name}, SerialNumber: serial,
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(10, 0, 0), // a debugger may run for long
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true, IsCA: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
