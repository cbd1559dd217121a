import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { createServer as createPlain } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { connect, createServer as createTcp } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { scratchDirectory } from '../../../test/support/scratch.ts';
import {
  eventually,
  http1Server,
  listening,
  plainServer,
  testAuthority,
  testServing,
} from '../../../test/support/transport-world.ts';
import { isCertificateProblem } from '../../kube/transport/network-failure.ts';
import type { HttpAnswer } from '../../oci/http-call.ts';
import { outsideHttpCall } from './http-call.ts';

const direct = outsideHttpCall({ env: {} });

async function textOf({ body }: HttpAnswer): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const serving = async (): Promise<{ cert: string; key: string }> => {
  const { certificatePem, keys } = await testServing();
  return { cert: certificatePem, key: keys.privateKeyPem };
};

/** A proxy on loopback, and what it was asked. Ways lead to `port`, whatever was asked for. */
async function proxyTo(port: number, options: { tls?: { cert: string; key: string }; status?: number } = {}) {
  const asked: string[] = [];
  const server = options.tls === undefined ? createPlain() : createHttps(options.tls);
  server.on('request', (message, response) => {
    asked.push(
      `${message.method} ${message.url} ${message.headers.host} ${message.headers['proxy-authorization'] ?? '-'}`,
    );
    response.end('forwarded');
  });
  server.on('connect', (message, socket) => {
    asked.push(`CONNECT ${message.url} ${message.headers['proxy-authorization'] ?? '-'}`);
    if (options.status !== undefined) return void socket.end(`HTTP/1.1 ${options.status} No\r\n\r\n`);
    const onward = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    // An end that nobody reads any more does not notice when the other side closes.
    onward.on('close', () => socket.resume());
    for (const end of [onward, socket]) end.on('error', () => onward.destroy());
  });
  return { ...(await listening(server, options.tls === undefined ? 'http' : 'https')), asked };
}

describe('a call outside', () => {
  it('sends method, headers and body, and gives status, headers and body back', async () => {
    await using server = await plainServer((message, response) => {
      message.setEncoding('utf8').on('data', (body: string) => {
        const { method, url, headers } = message;
        response.writeHead(201, { 'X-Answer': 'yes', 'Set-Cookie': ['a', 'b'] });
        response.end(
          JSON.stringify([method, url, headers.host, headers['x-asked'], headers['content-length'], body]),
        );
      });
    });
    const answer = await direct({
      method: 'POST',
      url: `${server.url}/a?b=c#d`,
      headers: { 'x-asked': 'no' },
      body: 'bödy',
    });
    assert.equal(answer.status, 201);
    assert.equal(answer.headers['x-answer'], 'yes');
    assert.deepEqual(JSON.parse(await textOf(answer)), [
      'POST',
      '/a?b=c',
      `127.0.0.1:${server.port}`,
      'no',
      '5',
      'bödy',
    ]);
    await eventually(() => server.sockets.size === 0);
  });

  it('follows no redirect, and takes every status for an answer', async () => {
    await using server = await plainServer((_, response) =>
      response.writeHead(302, { location: '/elsewhere' }).end(),
    );
    assert.equal((await direct({ method: 'HEAD', url: server.url })).headers['location'], '/elsewhere');
  });

  it('frees the connection of a body that nobody reads, and of one that somebody stops reading', async () => {
    await using server = await plainServer((_, response) => void response.write('x'.repeat(100_000)));
    const unread = await direct({ method: 'GET', url: server.url });
    const half = await direct({ method: 'GET', url: server.url });
    for await (const _ of half.body) break;
    await unread.body[Symbol.asyncIterator]().return?.();
    await eventually(() => server.sockets.size === 0);
  });

  it('ends with the reason of its signal: before the connection, before the answer, within the body', async () => {
    await using silent = await listening(
      createTcp((socket) => socket.resume()),
      'http',
    );
    await using half = await plainServer((_, response) => void response.write('x'));
    const control = new AbortController();
    const call = (url: string) => direct({ method: 'GET', url, signal: control.signal });
    const waiting = assert.rejects(call(silent.url), { message: 'enough' });
    const answer = await call(half.url);
    const reading = assert.rejects(textOf(answer), { message: 'enough' });
    await eventually(() => silent.accepted() === 1);
    control.abort(new Error('enough'));
    await Promise.all([waiting, reading]);
    await assert.rejects(call(silent.url), { message: 'enough' });
    await eventually(() => silent.sockets.size + half.sockets.size === 0);
  });

  it('fails with a sentence about the host, without what is behind it, when nobody is there', async () => {
    const server = await plainServer(() => {});
    await server[Symbol.asyncDispose]();
    const url = `${server.url}/x?api_key=hidden`;
    await assert.rejects(direct({ method: 'GET', url }), {
      reason: 'NetworkError',
      message: `127.0.0.1:${server.port} cannot be reached: nobody listens there; check the address, the network and HTTPS_PROXY`,
    });
    for (const wrong of ['nonsense', 'ftp://x.example/', 'file:///etc/passwd'])
      await assert.rejects(direct({ method: 'GET', url: wrong }), {
        message: /is no http:\/\/ or https:\/\/ one/,
      });
  });

  it('fails when the other side cuts the connection, before and within an answer', async () => {
    await using rude = await plainServer((message) => message.socket.destroy());
    await assert.rejects(direct({ method: 'GET', url: rude.url }), { message: /the connection was cut/ });
    await using half = await plainServer((_, response) => {
      response.writeHead(200, { 'content-length': '10' });
      response.write('x', () => response.destroy());
    });
    const answer = await direct({ method: 'GET', url: half.url });
    await assert.rejects(textOf(answer), { reason: 'NetworkError', message: /the connection was cut/ });
  });
});

describe('a call outside with TLS', () => {
  it('trusts the certificates that the request brings, and no other stranger', async () => {
    await using server = await http1Server((_, response) => response.end('hello'));
    const { certificatePem } = await testAuthority();
    const answer = await direct({ method: 'GET', url: server.url, caPem: `# ours\n${certificatePem}` });
    assert.equal(await textOf(answer), 'hello');
    await assert.rejects(direct({ method: 'GET', url: server.url }), (thrown: Error) => {
      assert.match(
        thrown.message,
        /^the certificate of 127\.0\.0\.1:\d+ is not trusted: .*; add its authority to the CA bundle/,
      );
      assert.ok(isCertificateProblem(thrown));
      return true;
    });
  });

  it('trusts the file that SSL_CERT_FILE names, as it is at that time', async () => {
    await using server = await http1Server((_, response) => response.end('hello'));
    await using directory = await scratchDirectory();
    const file = join(directory.path, 'ca.pem');
    const call = outsideHttpCall({ env: { SSL_CERT_FILE: file } });
    await assert.rejects(call({ method: 'GET', url: server.url }), {
      reason: 'InvalidTrustedAuthorities',
      message: /^SSL_CERT_FILE cannot be used: ENOENT/,
    });
    await writeFile(file, '');
    await assert.rejects(call({ method: 'GET', url: server.url }), { message: /is not trusted/ });
    await writeFile(file, (await testAuthority()).certificatePem);
    assert.equal(await textOf(await call({ method: 'GET', url: server.url })), 'hello');
  });

  it('reads no authorities for a server without TLS', async () => {
    await using server = await plainServer((_, response) => response.end('hello'));
    const call = outsideHttpCall({ env: { SSL_CERT_FILE: '/does/not/exist' } });
    assert.equal(await textOf(await call({ method: 'GET', url: server.url })), 'hello');
  });

  it('refuses a certificate for another name, and one that cannot be read', async () => {
    await using server = await http1Server((_, response) => response.end('hello'));
    const caPem = (await testAuthority()).certificatePem;
    const url = `https://0.0.0.0:${server.port}/`;
    await assert.rejects(direct({ method: 'GET', url, caPem }), {
      message: /^the certificate of 0\.0\.0\.0:\d+ is not trusted/,
    });
    const broken = caPem.replace(/\n[A-Za-z0-9+/]{8}/, '\n%%%%%%%%');
    await assert.rejects(direct({ method: 'GET', url: server.url, caPem: broken }), {
      reason: 'InvalidTrustedAuthorities',
    });
  });

  it('fails when the other side speaks no TLS', async () => {
    await using server = await plainServer((_, response) => response.end('hello'));
    await assert.rejects(direct({ method: 'GET', url: server.url.replace('http:', 'https:') }), {
      reason: 'NetworkError',
    });
  });
});

describe('a call outside through a proxy', () => {
  /** A server with a certificate for a name that no name server has: only the proxy finds it. */
  const named = async () => {
    const issued = await (await testAuthority()).issue({
      kind: 'serving',
      commonName: 'registry.test',
      dnsNames: ['registry.test'],
      ipAddresses: [],
      now: new Date(),
      validityMs: 3_600_000,
    });
    return await http1Server((message, response) => response.end(`hello ${message.headers.host}`), issued);
  };
  const caPem = async () => (await testAuthority()).certificatePem;
  const JANE = `Basic ${Buffer.from('jane:p@ss').toString('base64')}`;

  it('asks the proxy of HTTPS_PROXY for a way, with user and password, and checks the certificate at its end', async () => {
    await using server = await named();
    await using proxy = await proxyTo(server.port);
    const call = outsideHttpCall({ env: { HTTPS_PROXY: `http://jane:p%40ss@127.0.0.1:${proxy.port}` } });
    const answer = await call({ method: 'GET', url: 'https://registry.test/v2/', caPem: await caPem() });
    assert.equal(await textOf(answer), 'hello registry.test');
    await assert.rejects(call({ method: 'GET', url: 'https://other.test:8443/', caPem: await caPem() }), {
      message: /^the certificate of other\.test:8443 is not trusted/,
    });
    assert.deepEqual(proxy.asked, [`CONNECT registry.test:443 ${JANE}`, `CONNECT other.test:8443 ${JANE}`]);
    await eventually(() => proxy.sockets.size + server.sockets.size === 0);
  });

  it('speaks TLS with a proxy that wants it, and trusts the same authorities there', async () => {
    await using server = await named();
    await using proxy = await proxyTo(server.port, { tls: await serving() });
    const call = outsideHttpCall({ env: { https_proxy: proxy.url } });
    const answer = await call({ method: 'GET', url: 'https://registry.test/', caPem: await caPem() });
    assert.equal(await textOf(answer), 'hello registry.test');
  });

  it('gives a request without TLS to the proxy of HTTP_PROXY as it is', async () => {
    await using proxy = await proxyTo(0);
    const call = outsideHttpCall({ env: { HTTP_PROXY: `http://jane:p%40ss@127.0.0.1:${proxy.port}` } });
    const answer = await call({ method: 'GET', url: 'http://registry.test:5000/v2/?a=b' });
    assert.equal(await textOf(answer), 'forwarded');
    assert.deepEqual(proxy.asked, [`GET http://registry.test:5000/v2/?a=b registry.test:5000 ${JANE}`]);
  });

  it('goes by itself where NO_PROXY says so, and on loopback', async () => {
    await using server = await plainServer((_, response) => response.end('direct'));
    await using proxy = await proxyTo(0);
    const env = { HTTP_PROXY: proxy.url, NO_PROXY: '0.0.0.0' };
    const call = outsideHttpCall({ env });
    assert.equal(await textOf(await call({ method: 'GET', url: `http://0.0.0.0:${server.port}/` })), 'direct');
    assert.equal(await textOf(await call({ method: 'GET', url: server.url })), 'direct');
    assert.deepEqual(proxy.asked, []);
  });

  it('fails with what the proxy says, without its password', async () => {
    await using proxy = await proxyTo(0, { status: 403 });
    const call = outsideHttpCall({ env: { HTTPS_PROXY: `http://jane:hidden@127.0.0.1:${proxy.port}` } });
    await assert.rejects(call({ method: 'GET', url: 'https://registry.test/' }), (thrown: Error) => {
      assert.match(thrown.message, /^proxy 127\.0\.0\.1:\d+ did not open a way to registry\.test:443: 403/);
      assert.doesNotMatch(thrown.message, /hidden/);
      return true;
    });
    await eventually(() => proxy.sockets.size === 0);
  });

  it('fails when the proxy is not there', async () => {
    const proxy = await proxyTo(0);
    await proxy[Symbol.asyncDispose]();
    const call = outsideHttpCall({ env: { HTTPS_PROXY: proxy.url } });
    await assert.rejects(call({ method: 'GET', url: 'https://registry.test/' }), {
      message: /nobody listens there.*HTTPS_PROXY$/,
    });
  });

  it('goes through a SOCKS proxy, which finds the name', async () => {
    await using server = await named();
    const asked: string[] = [];
    await using socks = await listening(
      createTcp((socket) => {
        socket.once('data', () => {
          socket.write(Buffer.from([5, 0]));
          socket.once('data', (request) => {
            asked.push(request.subarray(5, -2).toString());
            const onward = connect(server.port, '127.0.0.1', () => {
              socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
              onward.pipe(socket).pipe(onward);
            });
            onward.on('error', () => socket.destroy());
          });
        });
      }),
      'socks5',
    );
    const call = outsideHttpCall({ env: { HTTPS_PROXY: socks.url } });
    const answer = await call({ method: 'GET', url: 'https://registry.test/', caPem: await caPem() });
    assert.equal(await textOf(answer), 'hello registry.test');
    assert.deepEqual(asked, ['registry.test']);
  });
});
