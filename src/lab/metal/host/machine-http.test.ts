import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { machineHttp } from './machine-http.ts';

describe('how hosts reach what listens on this machine', () => {
  const server = createServer((request, response) => {
    if (request.url === '/elsewhere') response.writeHead(302, { location: '/' }).end();
    else if (request.url === '/nothing') response.writeHead(204).end();
    else if (request.url === '/') void repeated(request, response);
  });
  let url = '';
  before(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    // A server that listens on a port has such an address.
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  it('sends method, headers and body, and has the answer', async () => {
    const answer = await machineHttp({
      method: 'POST',
      url: `${url}/`,
      headers: { 'x-host': 'cp-0' },
      body: 'hello',
    });
    assert.deepEqual([answer.status, answer.headers['x-answer']], [201, 'yes']);
    assert.deepEqual(JSON.parse(await text(answer.body)), { method: 'POST', header: 'cp-0', body: 'hello' });
  });

  it('leaves redirects to whoever asks, and has an empty body where there is none', async () => {
    const moved = await machineHttp({ method: 'GET', url: `${url}/elsewhere` });
    assert.deepEqual([moved.status, moved.headers['location']], [302, '/']);
    for (let time = 0; time < 2; time++)
      assert.equal(await text((await machineHttp({ method: 'GET', url: `${url}/nothing` })).body), '');
  });

  it('ends with its signal', async () => {
    const signal = AbortSignal.timeout(20);
    await assert.rejects(machineHttp({ method: 'GET', url: `${url}/never`, signal }), { name: 'TimeoutError' });
  });
});

/** Answers with what it was asked. */
async function repeated(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, headers } = request;
  const said = { method, header: headers['x-host'], body: await text(request) };
  response.writeHead(201, { 'x-answer': 'yes' }).end(JSON.stringify(said));
}
