import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Namespace } from '../../api/generated/core-v1.ts';
import { startApiServer } from '../../apiserver/start.ts';
import { SystemClock } from '../../base/clock.ts';
import { SILENT_LOG } from '../../base/log.ts';
import { printYaml } from '../../object/yaml.ts';
import { WorkloadConnections } from './workload-connections.ts';

const open = () =>
  new WorkloadConnections({
    env: {},
    clock: new SystemClock(),
    log: SILENT_LOG,
    userAgent: 'test/1',
    fieldManager: 'test',
  });

const kubeconfig = (user: Readonly<Record<string, unknown>>, cluster: Readonly<Record<string, unknown>> = {}) =>
  printYaml({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1', ...cluster } }],
    users: [{ name: 'u', user }],
  });

const EXEC = { apiVersion: 'client.authentication.k8s.io/v1', command: 'touch', interactiveMode: 'Never' };

describe('connections to clusters that were installed', () => {
  const refused = [
    {
      what: 'a certificate in a file',
      text: kubeconfig({ 'client-certificate': '/etc/c', 'client-key': '/etc/k' }),
    },
    { what: 'a token in a file', text: kubeconfig({ tokenFile: '/etc/token' }) },
    { what: 'an authority in a file', text: kubeconfig({}, { 'certificate-authority': '/etc/ca' }) },
    { what: 'a program', text: kubeconfig({ exec: EXEC }) },
    { what: 'no kubeconfig', text: 'nothing of the kind' },
  ];
  for (const { what, text } of refused) {
    it(`refuse a kubeconfig with ${what}: whoever writes a Secret gets at nothing of this machine`, async () => {
      await using connections = open();
      const asked = async () => await (await connections.connect(text)).list(Namespace);
      await assert.rejects(asked(), (error: Error) => !error.message.includes('ECONNREFUSED'));
    });
  }

  it('are made once for each kubeconfig, and lead to its cluster', async () => {
    await using server = await startApiServer({ storage: 'memory', listen: { host: '127.0.0.1', port: 0 } });
    await using connections = open();
    const text = printYaml(await server.kubeconfig());
    const client = await connections.connect(text);
    assert.equal(await connections.connect(text), client);
    const names = (await client.list(Namespace)).items.map(({ metadata }) => metadata.name);
    assert.ok(names.includes('default'));
  });
});
