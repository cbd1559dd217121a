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
  require('node:http').createServer((_, response) => response.end('{"health":"true"}'))
    .listen(flag('--listen-client-urls').slice('unix://'.length));
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
    .on('error', ({ message }) => { console.error(message); process.exit(1); })
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

/**
 * The first lines of a program in JavaScript that this very Node runs. Named by its path, because harness tests run with
 * an empty PATH, and by way of the shell, because a `#!` line ends at the first space.
 */
export const NODE_SCRIPT = `#!/bin/sh
':' //; exec '${process.execPath.replaceAll("'", "'\\''")}' "$0" "$@"
`;

const scriptText = (version: string, body: string): string => `${NODE_SCRIPT}
const words = process.argv.slice(2);
const flag = (name) => words.find((word) => word.startsWith(name + '='))?.slice(name.length + 1);
if (['--version', '-V', 'version'].includes(words[0])) {
  console.log(${JSON.stringify(version)});
} else {
  ${body}
}
`;
