import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lintManifests } from '../../src/cloud-operator/lint/lint-manifests.ts';
import type { LintContext } from '../../src/cloud-operator/lint/rule.ts';

/** Manifests without a finding, to break one thing at a time. */
export const ACME_MANIFESTS = join(import.meta.dirname, '../../src/cloud-operator/lint/testdata/acme');

const FILES = {
  deployment: 'assets/deployment.yaml',
  daemonset: 'assets/node-manager.yaml',
  role: 'assets/role.yaml',
  pod: 'bootstrap/pod.yaml',
} as const;

export type AcmeManifest = keyof typeof FILES;

/** What is there, and what takes its place; the first that is found, which must be there. */
export type Breakage = readonly [from: string, to: string];

export const acmeContext = (changes: Partial<LintContext> = {}): LintContext => ({
  managedNamespace: 'openshift-cloud-controller-manager',
  hasCloudConfig: true,
  boundContainers: new Set(['cloud-controller-manager', 'cloud-node-manager']),
  boundImages: new Set(['payload.invalid/acme']),
  secrets: new Set(['acme-credentials']),
  platformLabel: 'acme',
  ...changes,
});

const VALUES = {
  cloudproviderName: 'acme',
  tlsMinVersion: 'VersionTLS12',
  tlsCipherSuites: 'TLS_AES_128_GCM_SHA256',
  images: { CloudControllerManager: 'payload.invalid/acme', CloudNodeManager: 'payload.invalid/acme' },
};

/** The text of a manifest with things broken. */
export function acmeText(manifest: AcmeManifest, ...breakages: readonly Breakage[]): string {
  let text = readFileSync(join(ACME_MANIFESTS, FILES[manifest]), 'utf8');
  for (const [from, to] of breakages) {
    assert.ok(text.includes(from), `${FILES[manifest]} does not hold ${from}`);
    text = text.replace(from, () => to);
  }
  return text;
}

/** What the rules say about a text in place of a manifest: `error CCM-W01 message`. */
export const lintedText = (manifest: AcmeManifest, text: string, context = acmeContext()): readonly string[] =>
  lintManifests(
    [{ file: FILES[manifest], place: manifest === 'pod' ? 'bootstrap' : 'assets', text }],
    context,
    VALUES,
  ).map(({ severity, rule, message }) => `${severity} ${rule} ${message}`);
