import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Stand-ins for tests of the harness itself: they speak just enough of the flags and ports that the harness uses.
 * Suites that compare us with upstream never get these.
 */
export interface FakeProgram {
  readonly name: string;
  /** What it prints for its version command. */
  readonly version: string;
  /** JavaScript that runs after the version question; `flag('--x')` reads `--x=value`. */
  readonly body: string;
}

const HEALTHY_ETCD = `
  const { port } = new URL(flag('--listen-client-urls'));
  require('node:http').createServer((_, response) => response.end('{"health":"true"}'))
    .on('error', ({ message }) => { console.error(message); process.exit(1); })
    .listen(Number(port), '127.0.0.1');
`;

/** Only clients with a certificate of the authority get an answer, as from the real one. */
const HEALTHY_KUBE_APISERVER = `
  const { readFileSync } = require('node:fs');
  const tls = {
    cert: readFileSync(flag('--tls-cert-file')),
    key: readFileSync(flag('--tls-private-key-file')),
    ca: readFileSync(flag('--client-ca-file')),
    requestCert: true,
    rejectUnauthorized: true,
  };
  require('node:https').createServer(tls, (_, response) => response.end('ok'))
    .listen(Number(flag('--secure-port')), '127.0.0.1');
`;

export const fakeEtcd = (change: Partial<FakeProgram> = {}): FakeProgram => ({
  name: 'etcd',
  version: 'etcd Version: 3.6.16',
  body: HEALTHY_ETCD,
  ...change,
});

export const fakeKubeApiserver = (change: Partial<FakeProgram> = {}): FakeProgram => ({
  name: 'kube-apiserver',
  version: 'Kubernetes v1.36.3',
  body: HEALTHY_KUBE_APISERVER,
  ...change,
});

/** Writes the programs into `directory`, ready to be found there by name. */
export function writeFakePrograms(directory: string, ...programs: readonly FakeProgram[]): void {
  mkdirSync(directory, { recursive: true });
  for (const { name, version, body } of programs) {
    const path = join(directory, name);
    writeFileSync(path, scriptText(version, body));
    chmodSync(path, 0o755);
  }
}

/** The interpreter is named by its path: harness tests run with an empty PATH. */
const scriptText = (version: string, body: string): string => `#!${process.execPath}
const words = process.argv.slice(2);
const flag = (name) => words.find((word) => word.startsWith(name + '='))?.slice(name.length + 1);
if (['--version', '-V', 'version'].includes(words[0])) {
  console.log(${JSON.stringify(version)});
} else {
  ${body}
}
`;
