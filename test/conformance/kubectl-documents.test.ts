import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import type { ControlPlane } from '../../oracles/run/control-plane.ts';
import { AGGREGATED_CONTENT_TYPE, aggregatedDiscovery } from '../../src/apiserver/discovery/aggregated.ts';
import { OpenApi } from '../../src/apiserver/discovery/openapi.ts';
import {
  type DocumentAnswer,
  openApiV3Answer,
  taggedAnswer,
} from '../../src/apiserver/discovery/openapi-answer.ts';
import { kubectl } from '../support/kubectl.ts';
import { startKubernetes } from '../support/kubernetes.ts';
import { needsAll, needsOracle, oracleFile } from '../support/needs-oracle.ts';
import { RawClient } from '../support/raw-client.ts';
import { builtins, gadgetSubresources, gadgets } from '../support/served-resources.ts';

const DEFINITION = parse(readFileSync(new URL('testdata/gadgets.yaml', import.meta.url), 'utf8'));
const [beta, stable] = DEFINITION.spec.versions;
const resources = [
  ...builtins(),
  gadgets('v1beta1', beta.schema.openAPIV3Schema),
  gadgets('v1', stable.schema.openAPIV3Schema, { subresources: gadgetSubresources('v1') }),
];
const openApi = new OpenApi({ generation: 1, all: () => resources });

/** Our answer to a question about the API itself; undefined when the question is about objects. */
function documentAnswer({ url = '', headers }: IncomingMessage): DocumentAnswer | undefined {
  const { pathname, searchParams } = new URL(url, 'http://server');
  const ifNoneMatch = headers['if-none-match'];
  if (pathname === '/api' || pathname === '/apis') {
    const body = aggregatedDiscovery(resources, pathname === '/api' ? 'core' : 'groups');
    return taggedAnswer(body, AGGREGATED_CONTENT_TYPE, ifNoneMatch);
  }
  if (!pathname.startsWith('/openapi/')) return undefined;
  if (pathname === '/openapi/v3') {
    return { status: 200, headers: {}, bytes: Buffer.from(JSON.stringify(openApi.index())) };
  }
  const hash = searchParams.get('hash') ?? undefined;
  const path = pathname.slice('/openapi/v3/'.length);
  return openApiV3Answer(openApi, { path, hash, ifNoneMatch, now: new Date() });
}

const needs = needsAll(
  needsOracle('etcd', { min: '3.5.13' }),
  needsOracle('kube-apiserver', { min: '1.36' }),
  needsOracle('kubectl', { min: '1.36' }),
);

describe('kubectl with our documents and the objects of the real server', needs, () => {
  let cluster: ControlPlane;
  let client: RawClient;
  let server: Server;
  let kubeconfig: string;
  /** Documents asked for, without queries. */
  const asked: string[] = [];

  before(async () => {
    cluster = await startKubernetes();
    client = new RawClient(cluster.admin);
    server = createServer((request, response) => void serve(request, response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    kubeconfig = join(cluster.directory, 'documents.kubeconfig');
    writeFileSync(
      kubeconfig,
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${port}` } }],
        contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
        users: [{ name: 'u', user: {} }],
        'current-context': 'c',
      }),
    );
    const made = await kubectl(cluster.admin, 'create', '-f', written(DEFINITION));
    assert.equal(made.code, 0, made.stderr);
    const waited = await kubectl(cluster.admin, 'wait', '--for=condition=Established', 'crd', '--all');
    assert.equal(waited.code, 0, waited.stderr);
  });
  after(async () => {
    server.close();
    client[Symbol.dispose]();
    await cluster.stop();
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = documentAnswer(request) ?? (await forwarded(request));
    if (request.url?.startsWith('/openapi/') === true) asked.push(new URL(request.url, 'http://x').pathname);
    response.writeHead(answer.status, answer.headers).end(answer.bytes);
  }

  async function forwarded(
    request: IncomingMessage,
  ): Promise<{ status: number } & Omit<DocumentAnswer, 'status'>> {
    const { url = '', method = 'GET', headers } = request;
    const passed = ['accept', 'content-type'].flatMap((name): [string, string][] =>
      typeof headers[name] === 'string' ? [[name, headers[name]]] : [],
    );
    const body = await buffer(request);
    const {
      status,
      headers: got,
      body: bytes,
    } = await client.send(url, {
      method,
      headers: Object.fromEntries(passed),
      body,
    });
    return { status, headers: { 'content-type': String(got['content-type']) }, bytes };
  }

  let files = 0;
  function written(object: unknown): string {
    const file = join(cluster.directory, `object-${++files}.json`);
    writeFileSync(file, JSON.stringify(object));
    return file;
  }

  const run = (...words: readonly string[]) => kubectl(kubeconfig, ...words);
  const gadget = (color: string, more: object = {}) => ({
    apiVersion: 'generated.slipway.dev/v1',
    kind: 'Gadget',
    metadata: { name: 'a', namespace: 'default' },
    spec: { color, one: { a: 'x' }, ...more },
  });

  it('apiserver/D4: finds resources by short name and lists them', async () => {
    const { stdout, stderr, code } = await run('api-resources', '--no-headers');
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^gadgets +gd +generated\.slipway\.dev\/v1 +true +Gadget$/m);
    assert.match(stdout, /^deployments +deploy +apps\/v1 +true +Deployment$/m);
    assert.equal((await run('get', 'gd')).code, 0);
  });

  it('apiserver/D7: explains fields of custom and built-in kinds', async () => {
    const custom = await run('explain', 'gadgets.spec.color');
    assert.equal(custom.code, 0, custom.stderr);
    assert.match(custom.stdout, /FIELD: color <string>\nENUM:\n {4}red\n {4}blue\n\nDESCRIPTION:\n {4}The colour/);
    const builtin = await run('explain', 'pod.spec.containers', '--recursive');
    assert.match(builtin.stdout, /FIELD: containers <\[\]Container>/, builtin.stderr);
    assert.match(builtin.stdout, /imagePullPolicy\t<string>/);
  });

  it('apiserver/D7: applies, on the client and on the server, and lets the server validate', async () => {
    for (const [color, ...flags] of [['red'], ['blue'], ['blue', '--server-side', '--force-conflicts']] as const) {
      const { code, stderr } = await run('apply', '-f', written(gadget(color)), ...flags);
      assert.equal(code, 0, stderr);
    }
    const wrong = await run('apply', '-f', written(gadget('red', { nothing: 1 })));
    assert.equal(wrong.code, 1);
    assert.match(wrong.stderr, /strict decoding error: unknown field "spec\.nothing"/);
    assert.ok(asked.includes('/openapi/v3/apis/generated.slipway.dev/v1'));
  });

  it('apiserver/D7: shows a difference with a dry run of the server', async () => {
    // It calls the program diff, so this one needs a PATH.
    const env = { PATH: process.env['PATH'], HOME: cluster.directory, KUBECONFIG: kubeconfig };
    const run = promisify(execFile)(oracleFile('kubectl'), ['diff', '-f', written(gadget('red'))], { env });
    const { code, stdout, stderr } = await run.then(
      () => assert.fail('there is a difference'),
      (error: { code: number; stdout: string; stderr: string }) => error,
    );
    assert.equal(code, 1, stderr);
    assert.match(stdout, /^- {2}color: blue\n\+ {2}color: red$/m);
  });

  it('apiserver/D7: applies a built-in object twice', async () => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { a: '1' } };
    for (const a of ['1', '2']) {
      const { code, stderr } = await run('apply', '-f', written({ ...object, data: { a } }));
      assert.equal(code, 0, stderr);
    }
    const { stdout } = await run('get', 'cm', 'a', '-o', 'jsonpath={.data.a}');
    assert.equal(stdout, '2');
  });
});
