import assert from 'node:assert/strict';
import { Resolver } from 'node:dns/promises';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { INSTANCES } from '../cloud/instances/instance-fields.ts';
import { type Lab, startLab } from '../index.ts';

async function madeInstance(lab: Lab): Promise<string> {
  const { token } = lab.cloud.issueToken('lab-provider');
  const headers = { authorization: `Bearer ${token}` };
  const body = JSON.stringify({ name: 'db', type: 'lab.small', zone: 'a' });
  const response = await fetch(`${lab.cloud.url}/v1/instances`, { method: 'POST', headers, body });
  assert.equal(response.status, 202);
  return lab.cloud.state.list(INSTANCES)[0]?.id ?? '';
}

async function terminated(lab: Lab, id: string): Promise<void> {
  const headers = { authorization: `Bearer ${lab.cloud.issueToken('lab-provider').token}` };
  await fetch(`${lab.cloud.url}/v1/instances/${id}`, { method: 'DELETE', headers });
  await lab.until(async () => lab.cloud.state.get(INSTANCES, id)?.state === 'terminated', { within: '1m' });
}

function namesIn(lab: Lab): Resolver {
  const names = new Resolver();
  names.setServers([`${lab.dns.host}:${lab.dns.port}`]);
  return names;
}

describe('the name server of a lab', () => {
  it('lab/C13: knows the host names of instances, until they are gone', async () => {
    await using lab = await startLab({ clusters: [{ name: 'c1' }], cloud: true, clock: 'auto' });
    const id = await madeInstance(lab);
    const { hostname = '', publicAddress } = lab.cloud.state.get(INSTANCES, id)?.fields ?? {};
    assert.equal(hostname, 'db.a.lab.internal');
    assert.deepEqual(await namesIn(lab).resolve4(hostname), [publicAddress]);
    await terminated(lab, id);
    await assert.rejects(namesIn(lab).resolve4(hostname));
  });

  it('lab/X10: answers with addresses that programs of the lab can dial where all addresses are one', async () => {
    const clusters = [{ name: 'hub' }, { name: 'c1', nodes: 1 }];
    await using lab = await startLab({ clusters, cloud: true, network: 'ports', clock: 'auto' });
    const names = namesIn(lab);
    for (const name of ['hub', 'c1']) {
      const [address = ''] = await names.resolve4(`api.${name}.lab.internal`);
      assert.equal(new URL(lab.urlOf(address, 6443)).host, new URL(lab.cluster(name).url).host, address);
    }
    const [node = ''] = await names.resolve4('console.apps.c1.lab.internal');
    assert.match(node, /^10\.\d+\.2\.1$/);
    const { privateAddress } = lab.cloud.state.get(INSTANCES, await madeInstance(lab))?.fields ?? {};
    assert.deepEqual(await names.resolve4('db.a.lab.internal'), [privateAddress]);
  });
});

it('lab/C28: the metadata service says that it knows nobody where all addresses are one', async () => {
  await using lab = await startLab({ clusters: [{ name: 'c1' }], cloud: true, network: 'ports', clock: 'auto' });
  const [api = ''] = await namesIn(lab).resolve4('api.c1.lab.internal');
  const place = new URL(lab.urlOf(api.replace(/\.\d+\.\d+$/, '.0.169'), 80));
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const asked = request({ host: place.hostname, port: place.port, path: '/v1/instance' }, (answer) => {
    text(answer).then((body) => resolve(`${answer.statusCode} ${body}`), reject);
  });
  asked.on('error', reject);
  asked.end();
  assert.match(await promise, /^403 .*network mode ports everybody has 127\.0\.0\.1/);
});
