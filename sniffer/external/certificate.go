package external

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"

	"github.com/sfwalk/sfwalk/internal/certificate"
)

// mutualTLS makes the host's end of go-plugin's AutoMTLS: a certificate for one plug-in. The
// plug-in gets it in the environment variable PLUGIN_CLIENT_CERT (text), and admits no other
// client. The plug-in's own certificate comes with its handshake; until then, the host trusts none.
func mutualTLS() (config *tls.Config, text []byte, err error) {
	own, err := certificate.New()
	if err != nil {
		return nil, nil, err
	}
	config = &tls.Config{
		Certificates: []tls.Certificate{own},
		RootCAs:      x509.NewCertPool(), ServerName: certificate.Name, MinVersion: tls.VersionTLS12,
	}
	return config, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: own.Certificate[0]}), nil
}
