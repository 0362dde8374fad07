package plugincheck

import (
	"crypto/x509"
	"encoding/base64"
	"fmt"
)

// certificates returns a pool with the certificate in a plug-in's handshake.
func certificates(text string) (*x509.CertPool, error) {
	der, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("the certificate is not in base64 without padding: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("the certificate is not one in DER: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return pool, nil
}
