import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigSyncWorld } from '../../../test/support/config-sync-world.ts';
import type { Infrastructure, PlatformStatus } from '../../api/openshift/config-v1.ts';
import { builtInRegistry } from '../registry/built-in.ts';

const registry = builtInRegistry();
const azure: PlatformStatus = { type: 'Azure', azure: { cloudName: 'AzurePublicCloud' } };

describe('cloud configs of the built-in platforms', () => {
  const usable: readonly { readonly platform: PlatformStatus; readonly source: string; readonly want: RegExp }[] =
    [
      { platform: { type: 'AWS' }, source: '', want: /^\[Global\]\n/ },
      { platform: { type: 'AWS' }, source: '[Global]\nZone = z\n', want: /^\[Global\]\nZone +=  ?z\n/ },
      { platform: azure, source: '{"cloud":"AZUREPUBLICCLOUD"}', want: /"cloud": ?"AzurePublicCloud"/ },
      { platform: { type: 'OpenStack' }, source: '', want: /^\[Global\]\nuse-clouds +=  ?true\n/ },
      { platform: { type: 'VSphere' }, source: 'global:\n  user: u\n', want: /^global:\n {2}user: u\n/ },
      { platform: { type: 'GCP' }, source: 'as it is', want: /^as it is$/ },
      { platform: { type: 'Nutanix' }, source: '{}', want: /^\{\}$/ },
    ];
  for (const { platform, source, want } of usable)
    it(`operator/R96: ${platform.type} takes ${JSON.stringify(source)}`, async () => {
      await using world = await startWorld(source);
      await world.infra(platform, USER);
      assert.match((await world.data('cloud-conf'))?.['cloud.conf'] ?? '', want);
      const [, degraded = ''] = await world.conditions('CloudConfig');
      assert.match(degraded, /^Degraded=False/);
    });

  const refused: readonly { readonly platform: PlatformStatus; readonly source: string }[] = [
    { platform: { type: 'AWS' }, source: '[Global\nZone' },
    { platform: azure, source: '{"cloud":' },
    { platform: azure, source: '{"cloud":"AzureGermanCloud"}' },
    { platform: { type: 'OpenStack' }, source: '[Global\n' },
    { platform: { type: 'OpenStack' }, source: '[Global]\nsecret-name = mine\n' },
    { platform: { type: 'VSphere' }, source: '' },
    { platform: { type: 'VSphere' }, source: 'global: [\n' },
  ];
  for (const { platform, source } of refused)
    it(`operator/R58: ${platform.type} says at once what is wrong with ${JSON.stringify(source)}`, async () => {
      await using world = await startWorld(source);
      await world.infra(platform, USER);
      const [, degraded = ''] = await world.conditions('CloudConfig');
      assert.match(degraded, /^Degraded=True\/SyncingFailed .*: failed to transform cloud config: \S/);
      assert.equal(await world.managed('cloud-conf'), undefined);
    });

  it('operator/R63: platforms that bring their own get none', async () => {
    await using world = await startWorld('x');
    for (const type of ['AlibabaCloud', 'KubeVirt', 'None', 'External'] as const) {
      await world.infra({ type }, USER);
      assert.equal(await world.managed('cloud-conf'), undefined);
    }
  });
});

const USER: Infrastructure['spec'] = { cloudConfig: { name: 'user', key: 'config' } };

async function startWorld(source: string): Promise<ConfigSyncWorld> {
  const world = await ConfigSyncWorld.start({ registry });
  await world.configMap('openshift-config', 'user', { data: { config: source } });
  await world.run();
  return world;
}
