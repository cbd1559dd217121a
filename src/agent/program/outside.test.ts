import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { NO_BUNDLE, QUIET } from '../../../test/support/agent-programs.ts';
import { agentCrds } from '../../../test/support/agent-world.ts';
import { collected } from '../../../test/support/cloud-program.ts';
import { scratchDirectory } from '../../../test/support/scratch.ts';
import { OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import { Cluster } from '../../api/cluster-api/core-v1beta2.ts';
import { Secret } from '../../api/generated/core-v1.ts';
import { startApiServer } from '../../apiserver/start.ts';
import { SystemClock } from '../../base/clock.ts';
import { SILENT_LOG } from '../../base/log.ts';
import { createClient } from '../../kube/client/create-client.ts';
import type { Transport } from '../../kube/transport/transport.ts';
import { printYaml } from '../../object/yaml.ts';
import { runAgentProgram } from './agent-program.ts';

async function listening(server: Server, parts: AsyncDisposableStack): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  parts.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** An API server as `kubectl proxy` shows it: without TLS, everybody is the administrator. */
const plainServer = (transport: Transport): Server =>
  createServer((request, response) => {
    forwarded(transport, request, response).catch(() => response.destroy());
  });

async function forwarded(transport: Transport, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await buffer(request);
  const { method = '', url: target = '', headers } = request;
  const { 'content-type': type = '', accept = '' } = headers;
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const sent = { method, target, headers: { 'content-type': type, accept }, signal: gone.signal };
  const answer = await transport(body.length === 0 ? sent : { ...sent, body });
  response.writeHead(answer.status, { 'content-type': String(answer.headers['content-type'] ?? '') });
  for await (const chunk of answer.stream()) response.write(chunk);
  response.end();
}

const kubeconfigOf = (server: string): string =>
  printYaml({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'plain',
    contexts: [{ name: 'plain', context: { cluster: 'plain', user: 'nobody' } }],
    clusters: [{ name: 'plain', cluster: { server } }],
    users: [{ name: 'nobody', user: {} }],
  });

/** A control plane that wants to know its release image, and nothing else. */
async function controlPlane(transport: Transport): Promise<void> {
  const client = createClient({ transport, fieldManager: 'test', clock: new SystemClock(), log: SILENT_LOG });
  const metadata = { name: 'c', namespace: 'default' };
  const ref = { apiGroup: 'infrastructure.cluster.x-k8s.io', name: 'c' };
  const cluster = await client.create(Cluster, {
    metadata,
    spec: {
      infrastructureRef: { ...ref, kind: 'Metal3Cluster' },
      controlPlaneEndpoint: { host: 'api.c.example.com', port: 6443 },
    },
  });
  const provisioned = { status: { initialization: { infrastructureProvisioned: true } } };
  await client.subresource('status').patch(Cluster, metadata, { type: 'merge', body: provisioned });
  const auths = { auths: { 'quay.io': { auth: 'dXNlcjpwYXNz' } } };
  await client.create(Secret, {
    metadata: { name: 'pull-secret', namespace: 'default' },
    stringData: { '.dockerconfigjson': JSON.stringify(auths) },
  });
  await client.create(OpenshiftAssistedControlPlane, {
    apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha3',
    kind: 'OpenshiftAssistedControlPlane',
    metadata: {
      ...metadata,
      labels: { 'cluster.x-k8s.io/cluster-name': 'c' },
      ownerReferences: [
        { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Cluster', name: 'c', uid: cluster.metadata.uid ?? '' },
      ],
    },
    spec: {
      distributionVersion: '4.20.1',
      replicas: 1,
      config: { baseDomain: 'example.com', pullSecretRef: { name: 'pull-secret' } },
      machineTemplate: { infrastructureRef: { ...ref, kind: 'Metal3MachineTemplate' } },
    },
  });
}

describe('the program of the Agent providers, outside of its process', () => {
  it('agent/P1: reaches an API server without TLS, and registries through the proxy of the environment', async () => {
    await using parts = new AsyncDisposableStack();
    const server = parts.use(await startApiServer({ storage: 'memory', listen: false, crds: agentCrds() }));
    const url = await listening(plainServer(server.client()), parts);
    const { promise: asked, resolve } = Promise.withResolvers<string>();
    const proxy = createServer();
    proxy.on('connect', ({ url: target = '' }, socket) => {
      resolve(target);
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    });
    const proxyUrl = await listening(proxy, parts);
    const { path } = parts.use(await scratchDirectory());
    const kubeconfig = join(path, 'kubeconfig');
    await writeFile(kubeconfig, kubeconfigOf(url));
    const { program, stop, lines } = collected();
    const exit = runAgentProgram(
      {
        ...program,
        env: { ...NO_BUNDLE, HTTPS_PROXY: proxyUrl },
        clock: new SystemClock(),
        argv: [...QUIET, `--kubeconfig=${kubeconfig}`],
      },
      ['control-plane'],
    );
    await controlPlane(server.client());
    assert.equal(await Promise.race([asked, exit.then(() => lines.join(''))]), 'quay.io:443');
    stop();
    assert.equal(await exit, 0, lines.join(''));
  });
});
