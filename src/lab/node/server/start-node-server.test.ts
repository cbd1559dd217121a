import assert from 'node:assert/strict';
import { request as httpsRequest } from 'node:https';
import { after, before, describe, it } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { until } from '../../../../test/support/scratch.ts';
import { SILENT_LOG } from '../../../base/log.ts';
import { MemoryCertificate } from '../../../kube/serving/certificate-source.ts';
import { CertificateAuthority, type Credential } from '../../../pki/certificate-authority.ts';
import type { NodeRequest, NodeResponse } from './node-request.ts';
import { type NodeServer, startNodeServer } from './start-node-server.ts';

const validity = { now: new Date(), validityMs: 3_600_000 };
const HOST = '127.0.0.1';

describe('HTTPS server of a node', () => {
  let authority: CertificateAuthority;
  let server: NodeServer;
  let certificates: MemoryCertificate;
  let clients: Readonly<Record<'apiServer' | 'admin' | 'other' | 'stranger', Credential>>;
  let answer: (request: NodeRequest) => NodeResponse = () => ({ status: 200, body: 'hello' });

  const serving = async () => {
    const names = { commonName: 'system:node:w-1', dnsNames: ['w-1'], ipAddresses: [HOST] };
    const { certificatePem, keys } = await authority.issue({ kind: 'serving', ...names, ...validity });
    return { certificatePem, keyPem: keys.privateKeyPem };
  };
  const client = (by: CertificateAuthority, commonName: string, organizations: readonly string[] = []) =>
    by.issue({ kind: 'client', commonName, organizations, ...validity });

  before(async () => {
    authority = await CertificateAuthority.create({ commonName: 'cluster', ...validity });
    const foreign = await CertificateAuthority.create({ commonName: 'foreign', ...validity });
    certificates = new MemoryCertificate(await serving());
    clients = {
      apiServer: await client(authority, 'kube-apiserver-kubelet-client'),
      admin: await client(authority, 'me', ['a-group', 'system:masters']),
      other: await client(authority, 'system:node:w-2', ['system:nodes']),
      stranger: await client(foreign, 'kube-apiserver-kubelet-client', ['system:masters']),
    };
    server = await startNodeServer({
      serve: async (request) => answer(request),
      listen: (net) => new Promise((resolve) => net.listen(0, HOST, () => resolve())),
      certificates,
      clientCaPem: authority.certificatePem,
      log: SILENT_LOG,
    });
  });
  after(() => server[Symbol.asyncDispose]());

  interface Asked {
    readonly status: number | undefined;
    readonly text: string;
    readonly serial: string;
  }

  const optionsOf = (path: string, credential?: Credential) => ({
    host: HOST,
    port: server.port,
    path,
    ca: authority.certificatePem,
    agent: false as const,
    ...(credential !== undefined && { cert: credential.certificatePem, key: credential.keys.privateKeyPem }),
  });

  const ask = (path: string, credential?: Credential): Promise<Asked> =>
    new Promise((resolve, reject) => {
      const request = httpsRequest(optionsOf(path, credential), (response) => {
        let text = '';
        const serial = (response.socket as TLSSocket).getPeerCertificate().serialNumber;
        response.on('data', (chunk: Buffer) => {
          text += chunk.toString();
        });
        response.on('end', () => resolve({ status: response.statusCode, text, serial }));
        response.on('error', reject);
      });
      request.on('error', reject);
      request.end();
    });

  it('lab/N40: answers the API server and administrators, with what they asked for', async () => {
    answer = ({ path, query }) => ({ status: 200, body: `${path} ${query.get('tailLines')}` });
    for (const credential of [clients.apiServer, clients.admin]) {
      const { status, text } = await ask('/containerLogs/shop/web/a?tailLines=5', credential);
      assert.deepEqual([status, text], [200, '/containerLogs/shop/web/a 5']);
    }
  });

  it('lab/N40: refuses everybody else', async () => {
    answer = () => ({ status: 200, body: 'secret' });
    assert.partialDeepStrictEqual(await ask('/pods'), { status: 401, text: 'Unauthorized' });
    assert.partialDeepStrictEqual(await ask('/pods', clients.stranger), { status: 401, text: 'Unauthorized' });
    assert.partialDeepStrictEqual(await ask('/containerLogs/a/b/c', clients.other), {
      status: 403,
      text: 'Forbidden (user=system:node:w-2, verb=get, resource=nodes, subresource(s)=[log])',
    });
  });

  it('answers 500 without details when something unforeseen happens', async () => {
    answer = () => {
      throw new Error('a secret detail');
    };
    assert.partialDeepStrictEqual(await ask('/pods', clients.admin), {
      status: 500,
      text: 'Internal Server Error',
    });
  });

  it('lab/N41: streams as fast as the client reads, and ends the stream when it leaves', async () => {
    let [made, isCancelled] = [0, false];
    let signal: AbortSignal | undefined;
    answer = (request) => {
      signal = request.signal;
      const body = new ReadableStream<Uint8Array>(
        {
          pull: (controller) => {
            made++;
            controller.enqueue(Buffer.alloc(64 * 1024, 'x'));
          },
          cancel: () => {
            isCancelled = true;
          },
        },
        { highWaterMark: 0 },
      );
      return { status: 200, body };
    };
    const request = httpsRequest(optionsOf('/containerLogs/a/b/c?follow=true', clients.admin));
    const received = new Promise<void>((resolve) => {
      request.on('response', (response) => {
        response.once('readable', () => resolve());
      });
    });
    request.on('error', () => {});
    request.end();
    await received;
    // Nobody reads on: buffers fill up, and then nothing more is made.
    let before = -1;
    const isStill = () => {
      const same = made === before;
      before = made;
      return same;
    };
    await until(isStill, 'the stream stands still');
    assert.ok(made < 500, `${made} pieces were made for nobody`);
    request.destroy();
    await until(() => isCancelled, 'the stream is cancelled');
    assert.equal(signal?.aborted, true);
  });

  it('sends the head of a log that is silent', async () => {
    answer = () => ({ status: 200, body: new ReadableStream() });
    const request = httpsRequest(optionsOf('/containerLogs/a/b/c?follow=true', clients.admin));
    request.on('error', () => {});
    const status = new Promise((resolve) => request.on('response', (response) => resolve(response.statusCode)));
    request.end();
    assert.equal(await status, 200);
    request.destroy();
  });

  it('shows a new certificate to the next connection', async () => {
    answer = () => ({ status: 200, body: 'ok' });
    const first = await ask('/healthz', clients.admin);
    certificates.set(await serving());
    const second = await ask('/healthz', clients.admin);
    assert.notEqual(first.serial, second.serial);
  });
});
