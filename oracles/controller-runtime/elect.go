package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// How often a leader says that it leads: short beside every period of the election.
const claimEvery = 5 * time.Millisecond

// runElect competes for a lease with client-go's elector until it is told to end, and while it leads appends one line
// per claim to a file that all candidates share: "<unix microseconds> <identity>".
func runElect(ctx context.Context, w *world) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt)
	defer stop()
	claims, err := os.OpenFile(w.claims, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer claims.Close()
	clients, err := kubernetes.NewForConfig(w.config)
	if err != nil {
		return err
	}
	lock := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: w.namespace, Name: w.leaseName},
		Client:     clients.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: w.identity},
	}
	// Losing ends a run; a candidate tries again.
	for ctx.Err() == nil {
		leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
			Lock: lock, LeaseDuration: w.leaseDuration, RenewDeadline: w.renewDeadline, RetryPeriod: w.retryPeriod,
			ReleaseOnCancel: true,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(ctx context.Context) { claim(ctx, claims, w.identity) },
				OnStoppedLeading: func() {},
			},
		})
	}
	return nil
}

func claim(ctx context.Context, claims *os.File, identity string) {
	for ctx.Err() == nil {
		fmt.Fprintf(claims, "%d %s\n", time.Now().UnixMicro(), identity)
		select {
		case <-ctx.Done():
		case <-time.After(claimEvery):
		}
	}
}
