package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

const loopback = "127.0.0.1"

// webhookServer is the server of a manager, reached by URL: nothing here runs in pods.
type webhookServer struct {
	base     string
	caBundle []byte
}

func (s webhookServer) url(path string) *string {
	url := s.base + path
	return &url
}

// serveWebhooks starts a manager whose webhook server has these paths.
func (w *world) serveWebhooks(ctx context.Context, paths map[string]http.Handler) (webhookServer, error) {
	certificate, caBundle, err := selfSigned()
	if err != nil {
		return webhookServer{}, err
	}
	server := webhook.NewServer(webhook.Options{Host: loopback, Port: w.webhookPort, TLSOpts: []func(*tls.Config){
		func(config *tls.Config) {
			config.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return certificate, nil }
		},
	}})
	running, err := manager.New(w.config, manager.Options{
		Scheme: w.scheme, WebhookServer: server, Metrics: metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		return webhookServer{}, err
	}
	for path, handler := range paths {
		running.GetWebhookServer().Register(path, handler)
	}
	go func() { _ = running.Start(ctx) }()
	started := server.StartedChecker()
	err = w.until(ctx, "the webhook server listens", func(context.Context) bool { return started(nil) == nil })
	return webhookServer{base: fmt.Sprintf("https://%s:%d", loopback, w.webhookPort), caBundle: caBundle}, err
}

func selfSigned() (*tls.Certificate, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "webhooks"},
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.ParseIP(loopback)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, nil, err
	}
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, bundle, nil
}
