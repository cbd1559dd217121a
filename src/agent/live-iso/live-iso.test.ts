import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BOOT_METHOD, type OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';
import type { InfraEnv } from '../../api/assisted/agent-install-v1beta1.ts';
import { bootMethodOf } from './boot-method.ts';
import { derivedTemplateName } from './derived-template.ts';
import { hasLiveImage, liveImagePatch, withLiveImage } from './live-image.ts';
import { ignoredSettings, MACHINE_TEMPLATE_ANNOTATION, notOurs, sharedInfraEnvName } from './shared-infra-env.ts';

const identity = (template: string, architecture = 'x86_64', cluster = 'c') => ({
  cluster,
  template,
  architecture,
});

const infraEnv = (spec: InfraEnv['spec'], template = 't', cluster = 'c'): InfraEnv => ({
  apiVersion: 'agent-install.openshift.io/v1beta1',
  kind: 'InfraEnv',
  metadata: {
    name: 'i',
    labels: { 'cluster.x-k8s.io/cluster-name': cluster },
    annotations: { [MACHINE_TEMPLATE_ANNOTATION]: template },
  },
  ...(spec !== undefined && { spec }),
});

describe('names of what several machines share', () => {
  it('follow from cluster, template and architecture, and are short enough for a label', () => {
    assert.equal(sharedInfraEnvName(identity('workers')), 'c-workers-x86-64');
    assert.equal(derivedTemplateName(identity('workers')), 'workers-live-iso');
    assert.equal(derivedTemplateName(identity('workers', 'aarch64')), 'workers-aarch64-live-iso');
    const long = 'a-very-long-name-of-a-template-that-goes-on-and-on-and-on-and-on-1';
    const [one, two] = [sharedInfraEnvName(identity(long)), sharedInfraEnvName(identity(`${long}2`))];
    assert.ok(one.length <= 63 && two.length <= 63 && one !== two);
    assert.equal(sharedInfraEnvName(identity(long)), one);
  });

  it('that two have are told apart by what they are for', () => {
    const spec = { cpuArchitecture: 'x86_64' };
    assert.equal(notOurs(infraEnv(spec), infraEnv(spec)), undefined);
    assert.match(
      notOurs(infraEnv(spec, 'b-c', 'a'), infraEnv(spec, 'c', 'a-b')) ?? '',
      /template b-c of cluster a;/,
    );
    assert.match(
      notOurs({ ...infraEnv(spec), metadata: { name: 'i' } }, infraEnv(spec)) ?? '',
      /somebody else made it/,
    );
  });

  it('tell which settings of a config are ignored; what says nothing is no difference', () => {
    const [has, wants] = [
      infraEnv({ nmStateConfigLabelSelector: {}, proxy: { httpProxy: 'a' }, imageType: 'full-iso' }),
      infraEnv({ proxy: { httpProxy: 'b' }, sshAuthorizedKey: 'x' }),
    ];
    assert.deepEqual(ignoredSettings(has, wants), ['proxy', 'sshAuthorizedKey']);
  });
});

describe('the image of a machine that boots an ISO', () => {
  for (const { version, format } of [
    { version: 'v1beta1', format: 'format' },
    { version: 'v1beta2', format: 'diskFormat' },
  ])
    it(`has its format in ${format} in ${version}, and no checksum`, () => {
      const image = { url: 'u', [format]: 'live-iso' };
      assert.equal(hasLiveImage({ spec: { image } }, 'u', version), true);
      assert.equal(hasLiveImage({ spec: { image } }, 'v', version), false);
      assert.equal(hasLiveImage({ spec: { image: { ...image, checksum: '' } } }, 'u', version), false);
      assert.equal(hasLiveImage({}, 'u', version), false);
      assert.deepEqual(withLiveImage({ image: { url: 'x', checksum: 'y' } }, 'u', version), { image });
      const patch = liveImagePatch('u', version)['spec'] as { readonly image: Readonly<Record<string, unknown>> };
      assert.deepEqual(
        [patch.image[format], patch.image['checksum'], patch.image['checksumType']],
        ['live-iso', null, null],
      );
    });
});

describe('the boot method', () => {
  it('is ignition unless the annotation says otherwise', () => {
    const config = (text?: string): OpenshiftAssistedConfig => ({
      apiVersion: '',
      kind: '',
      metadata: { name: 'a', ...(text !== undefined && { annotations: { [BOOT_METHOD]: text } }) },
    });
    const methods = [undefined, 'ignition', 'live-iso', 'ISO', ''].map((text) => bootMethodOf(config(text)));
    assert.deepEqual(methods, ['ignition', 'ignition', 'live-iso', undefined, undefined]);
  });
});
