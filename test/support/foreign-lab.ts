import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Lab } from '../../src/lab/start-lab.ts';
import { kubectl } from './kubectl.ts';
import { oracleFile } from './needs-oracle.ts';

/** Real API servers dial nodes at the addresses of this machine (X2). */
export const KUBELET_FLAGS = ['--kubelet-preferred-address-types=ExternalIP,InternalIP'];

/** An image whose containers serve HTTP, count in their logs, and crash when asked to. */
export const WEB_IMAGES = {
  'example.com/web': { argv: [process.execPath, join(import.meta.dirname, 'web-program.ts')], entrypoint: 2 },
};

export const webYaml = (replicas: number): string => `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: default }
spec:
  replicas: ${replicas}
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      automountServiceAccountToken: false
      containers:
        - name: web
          image: example.com/web
          ports: [{ containerPort: 8080 }]
          readinessProbe: { httpGet: { path: /, port: 8080 }, periodSeconds: 1 }
---
apiVersion: v1
kind: Service
metadata: { name: web, namespace: default }
spec: { type: NodePort, selector: { app: web }, ports: [{ port: 80, targetPort: 8080 }] }
`;

/** An octet whose network no lab on this machine has at the moment. */
export async function freeOctet(): Promise<number> {
  for (let octet = 16 + (process.pid % 200); ; octet = octet === 250 ? 16 : octet + 1) {
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(49_151, `127.${octet}.0.1`, () => resolve(true));
    });
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return octet;
  }
}

/** The output of kubectl; fails when it fails. */
export async function told(kubeconfig: string, ...words: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await kubectl(kubeconfig, ...words);
  assert.equal(code, 0, `kubectl ${words.join(' ')}: ${stderr}`);
  return stdout;
}

/** What comes of a command that does not end by itself, until it has said that; it is ended then. */
export async function toldUntil(kubeconfig: string, wanted: RegExp, ...words: readonly string[]): Promise<string> {
  const env = { HOME: dirname(kubeconfig), KUBECONFIG: kubeconfig };
  const child = spawn(oracleFile('kubectl'), words, {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 30_000,
  });
  const ended = once(child, 'close');
  let text = '';
  for await (const bytes of child.stdout) {
    text += String(bytes);
    if (wanted.test(text)) child.kill();
  }
  await ended;
  assert.match(text, wanted, `kubectl ${words.join(' ')}`);
  return text;
}

/** Asks until the answer is good; a place that nobody serves yet is asked again. */
export async function answer(url: string, isGood = (text: string) => text !== ''): Promise<string> {
  const endMs = performance.now() + 20_000;
  for (;;) {
    const text = await fetch(url, { signal: AbortSignal.timeout(5000) }).then(
      (one) => one.text(),
      () => '',
    );
    if (isGood(text)) return text;
    if (performance.now() > endMs) throw new Error(`${url} answers ${JSON.stringify(text)}`);
    await sleep(100);
  }
}

/** Where the service answers: at its own address, and at the port of each node. */
export async function places(
  lab: Lab,
  kubeconfig: string,
): Promise<{ cluster: string; nodes: readonly string[] }> {
  const jsonpath = '-ojsonpath={.spec.clusterIP} {.spec.ports[0].nodePort}';
  const [clusterIP = '', nodePort] = (await told(kubeconfig, 'get', 'service', 'web', jsonpath)).split(' ');
  const internal = '-ojsonpath={.items[*].status.addresses[?(@.type=="InternalIP")].address}';
  const addresses = (await told(kubeconfig, 'get', 'nodes', internal)).split(' ');
  return {
    cluster: lab.urlOf(clusterIP, 80),
    nodes: addresses.map((address) => lab.urlOf(address, Number(nodePort))),
  };
}
