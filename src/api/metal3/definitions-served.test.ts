import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TestEnv } from '../../testing/test-env.ts';
import { agentDefinitions } from '../agent/definitions.schema.ts';
import { assistedDefinitions } from '../assisted/definitions.schema.ts';
import { clusterApiDefinitions } from '../cluster-api/definitions.schema.ts';
import { hiveDefinitions } from '../hive/definitions.schema.ts';
import type { Kind } from '../object.ts';
import { metal3Definitions } from './definitions.schema.ts';
import { diskFormatOf, Metal3MachineTemplate } from './infrastructure-v1beta2.ts';
import { BareMetalHost } from './metal3-v1alpha1.ts';

const CRDS = [
  ...metal3Definitions(),
  ...clusterApiDefinitions(),
  ...assistedDefinitions(),
  ...hiveDefinitions(),
  ...agentDefinitions(),
];
const OLD_TEMPLATE: Kind = { ...Metal3MachineTemplate, version: 'v1beta1', objectType: undefined as never };

describe('the definitions of a cluster on bare metal on our API server', () => {
  it('are all served', async () => {
    await using env = await TestEnv.start({ crds: CRDS });
    for (const { spec } of CRDS as unknown as readonly { spec: { group: string; names: { plural: string } } }[]) {
      const { group, names } = spec;
      const found = await env.server.client()({ method: 'GET', target: `/apis/${group}`, headers: {} });
      assert.equal(found.status, 200, names.plural);
    }
  });

  it('keep an image of Metal3 as it was written, so that readers find its format in either version', async () => {
    await using env = await TestEnv.start({ crds: CRDS });
    const image = { url: 'http://images/rhcos.qcow2', checksum: 'a', checksumType: 'sha256', format: 'qcow2' };
    await env.client.create(OLD_TEMPLATE, {
      metadata: { name: 'm', namespace: 'default' },
      spec: { template: { spec: { image } } },
    });
    const { spec } = await env.client.get(Metal3MachineTemplate, { name: 'm', namespace: 'default' });
    assert.equal(diskFormatOf(spec.template.spec.image ?? {}), 'qcow2');
    assert.equal(spec.nodeReuse, false);
  });

  it('refuse what the real ones refuse', async () => {
    await using env = await TestEnv.start({ crds: CRDS });
    const host = { metadata: { name: 'h', namespace: 'default' }, spec: { online: true } };
    const made = await env.client.create(BareMetalHost, host);
    assert.equal(made.spec?.automatedCleaningMode, 'metadata');
    const bad = {
      ...host,
      metadata: { ...host.metadata, name: 'i' },
      spec: { online: true, bootMACAddress: 'x' },
    };
    await assert.rejects(env.client.create(BareMetalHost, bad), { reason: 'Invalid' });
  });
});
