import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  configMapText,
  imagesText,
  infrastructureText,
  secretText,
} from '../../../test/support/bootstrap-input.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import type { PlatformType } from '../../api/openshift/config-v1.ts';
import { causeChain } from '../../base/errors.ts';
import { parseYaml } from '../../object/yaml.ts';
import type { CloudProviderDefinition } from '../definition.ts';
import { builtInRegistry } from '../registry/built-in.ts';
import { defineCloudProvider } from '../render/cloud-provider.ts';
import { type BootstrapInput, renderBootstrap } from './render-bootstrap.ts';

const SECRET = 'hunter2';

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'acme-cloud-controller-manager', namespace: 'elsewhere' },
  spec: { containers: [{ name: 'cloud-controller-manager', image: 'example.com/old:1' }] },
};

const acme = (overrides: Partial<CloudProviderDefinition> = {}): CloudProviderDefinition => ({
  id: 'acme',
  match: { type: 'External' },
  images: { cloudControllerManagerAcme: { container: 'cloud-controller-manager', payloadTag: 'acme' } },
  assets: { objects: [] },
  bootstrapAssets: { objects: [pod] },
  cloudConfig: { sources: ['user'] },
  bootstrapSecret: 'acme-credentials',
  ...overrides,
});

type Texts = { readonly [K in keyof BootstrapInput]?: string };

/** Renders with files that are named after what they hold. */
function render(texts: Texts, definition?: CloudProviderDefinition) {
  const registry = builtInRegistry();
  if (definition !== undefined) registry.register(defineCloudProvider(definition));
  const given = { infrastructure: infrastructureText({ type: 'AWS' }), images: imagesText(), ...texts };
  const input = Object.fromEntries(
    Object.entries(given).map(([what, text]) => [what, { file: `${what}.yaml`, text }]),
  ) as unknown as BootstrapInput;
  return renderBootstrap(input, { registry, ...(definition !== undefined && { provider: definition.id }) });
}

const onExternal = (): string =>
  infrastructureText({ type: 'External', external: { cloudControllerManager: { state: 'External' } } });
const acmeImages = imagesText({ cloudControllerManagerAcme: 'example.com/acme:7' });
const textOf = (content: string | Uint8Array): string => Buffer.from(content).toString();

describe('renderBootstrap', () => {
  it('operator/R87: gives the static pod of AWS with the image of the release, in kube-system', () => {
    const { files, pods, hints } = render({
      images: imagesText({ cloudControllerManagerAWS: 'example.com/aws:7' }),
    });
    assert.deepEqual(
      files.map(({ path, isSecret }) => [path, isSecret]),
      [['bootstrap/aws-cloud-controller-manager-pod.yaml', false]],
    );
    const [first] = pods as readonly Pod[];
    assert.deepEqual(parseYaml(textOf(files[0]?.content ?? '')), first);
    assert.equal(first?.metadata.namespace, 'kube-system');
    assert.equal(first.spec?.containers[0]?.image, 'example.com/aws:7');
    assert.deepEqual(hints, []);
  });

  it('operator/R88: the pod has the kubeconfig of the bootstrap machine, and runs cloud-node alone without a lease', () => {
    for (const type of ['AWS', 'Azure'] as const) {
      const text = JSON.stringify(render({ infrastructure: infrastructureText({ type }) }).pods);
      assert.match(text, /--controllers=cloud-node(?![\w-])/);
      assert.match(text, /--leader-elect=false/);
      assert.match(text, /"hostPath":\{"path":"\/etc\/kubernetes\/bootstrap-secrets"/);
    }
  });

  const without: readonly PlatformType[] = ['BareMetal', 'None', 'GCP', 'VSphere', 'AlibabaCloud'];
  for (const type of without) {
    it(`operator/R87: gives nothing for ${type}, and says why`, () => {
      const { files, hints } = render({ infrastructure: infrastructureText({ type }) });
      assert.deepEqual(files, []);
      assert.match(hints.join(), new RegExp(`platform ${type} `));
    });
  }

  it('operator/R97: refuses platform External without a provider', () => {
    assert.throws(() => render({ infrastructure: onExternal() }), {
      message: /^infrastructure\.yaml: platform External .*: name it with --provider$/,
    });
  });

  for (const state of ['None', '', undefined] as const) {
    it(`operator/D2: refuses platform External whose kubelets would not wait: ${state}`, () => {
      const cloudControllerManager = state === undefined ? {} : { state };
      const infrastructure = infrastructureText({ type: 'External', external: { cloudControllerManager } });
      assert.throws(() => render({ infrastructure, images: acmeImages }, acme()), {
        disposition: 'user',
        message: new RegExp(
          `^infrastructure\\.yaml: status\\.platformStatus\\.external\\.cloudControllerManager\\.state is "${state ?? ''}": .* must be External, by platform\\.external`,
        ),
      });
    });
  }

  describe('cloud configuration', () => {
    const azure = (cloudConfig?: { readonly name?: string; readonly key?: string }) =>
      infrastructureText({ type: 'Azure' }, cloudConfig);
    const configOf = (texts: Texts): string | undefined => {
      const found = render(texts).files.find(({ path }) => path === 'config/cloud.conf');
      return found === undefined ? undefined : textOf(found.content);
    };

    const cases = [
      { name: 'under cloud.conf', data: { 'cloud.conf': 'a\n', config: 'b' }, want: 'a\n' },
      { name: 'under the key that is named', data: { config: 'b' }, want: 'b' },
      { name: 'that is empty', data: { 'cloud.conf': '', config: 'b' }, want: undefined },
    ];
    for (const { name, data, want } of cases) {
      it(`operator/R85: takes one ${name}`, () => {
        const infrastructure = azure({ name: 'cloud-provider-config', key: 'config' });
        assert.equal(configOf({ infrastructure, cloudConfig: configMapText('kube-cloud-config', data) }), want);
      });
    }

    it('operator/R85: takes none that the Infrastructure does not name', () => {
      const cloudConfig = configMapText('kube-cloud-config', { 'cloud.conf': 'a' });
      assert.equal(configOf({ infrastructure: azure(), cloudConfig }), undefined);
      assert.equal(configOf({ infrastructure: azure({ name: '' }), cloudConfig }), undefined);
    });

    const names = [
      { name: 'x', want: '' },
      { name: 'kube-cloud-config', want: '' },
      {
        name: 'y',
        want: 'cloudConfig.yaml: is ConfigMap openshift-config/y; the Infrastructure names openshift-config/x',
      },
      {
        name: 'x',
        namespace: 'kube-system',
        want: 'cloudConfig.yaml: is ConfigMap kube-system/x; the Infrastructure names openshift-config/x',
      },
    ];
    for (const { name, namespace, want } of names) {
      it(`operator/R85: says when ConfigMap ${name} of ${namespace ?? 'its namespace'} is another than is named`, () => {
        const cloudConfig = configMapText(name, { 'cloud.conf': 'a' }, namespace);
        assert.equal(render({ infrastructure: azure({ name: 'x' }), cloudConfig }).hints.join(), want);
      });
    }

    const FLAG = '--cloud-config=/etc/kubernetes/configs/cloud.conf';
    const flags = [
      { name: 'of one that is written', named: { name: 'x' }, data: { 'cloud.conf': 'a' }, want: [FLAG] },
      { name: 'of none where one is empty', named: { name: 'x' }, data: { 'cloud.conf': '' }, want: [] },
      { name: 'of none where none is named', named: undefined, data: { 'cloud.conf': 'a' }, want: [] },
    ];
    for (const { name, named, data, want } of flags) {
      it(`operator/R87: the static pod is told ${name}`, () => {
        const cloudConfig = configMapText('kube-cloud-config', data);
        const [rendered] = render({ infrastructure: azure(named), cloudConfig }).pods as readonly Pod[];
        const args = rendered?.spec?.containers.flatMap(({ args: words = [] }) => words) ?? [];
        assert.deepEqual(
          args.filter((word) => word.startsWith('--cloud-config')),
          want,
        );
      });
    }

    for (const data of [`{cloud.conf: *${SECRET}}`, `password=${SECRET}`, `{cloud.conf: !!int ${SECRET}}`])
      it(`is refused without a word of what is in it: ${data}`, () => {
        const cloudConfig = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: ${data}\n`;
        const infrastructure = azure({ name: 'x' });
        assert.throws(
          () => configOf({ infrastructure, cloudConfig }),
          (error: Error) => {
            assert.match(
              error.message,
              /^cloudConfig\.yaml: (?:is not valid YAML; quote|data: expected an object$)/,
            );
            assert.doesNotMatch(causeChain(error).map(String).join(), new RegExp(SECRET));
            return true;
          },
        );
      });

    it('operator/R85: refuses to go without one that is named', () => {
      assert.throws(() => configOf({ infrastructure: azure({ name: 'x' }) }), {
        message: /names the cloud configuration openshift-config\/x: give its ConfigMap with --cloud-config-file/,
      });
    });

    it('operator/R85: refuses a ConfigMap without either key', () => {
      const cloudConfig = configMapText('kube-cloud-config', { other: 'a' });
      assert.throws(() => configOf({ infrastructure: azure({ name: 'x', key: 'constructor' }), cloudConfig }), {
        message: 'cloudConfig.yaml: ConfigMap kube-cloud-config has neither cloud.conf nor constructor',
      });
      assert.throws(() => configOf({ infrastructure: azure({ name: 'x' }), cloudConfig }), {
        message: 'cloudConfig.yaml: ConfigMap kube-cloud-config has no key cloud.conf',
      });
    });
  });

  describe('files that cannot be used', () => {
    const head = 'apiVersion: config.openshift.io/v1\nkind: Infrastructure\nmetadata: {name: cluster}\n';
    const infrastructures = [
      { name: 'not YAML', text: 'a: b: c', want: /^infrastructure\.yaml: not valid YAML/ },
      { name: 'a list', text: '[]', want: /holds no Infrastructure$/ },
      {
        name: 'nothing of ours',
        text: 'a: b',
        want: /holds no object; config.openshift.io\/v1 Infrastructure is/,
      },
      { name: 'another kind', text: 'kind: Proxy\napiVersion: v1', want: /holds v1 Proxy; config/ },
      { name: 'another name', text: head.replace('cluster', 'east'), want: /is Infrastructure "east"; that of a/ },
      { name: 'a key twice', text: `${head}spec: {}\nspec: {}\n`, want: /Map keys must be unique/ },
      {
        name: 'a field in the wrong case',
        text: `${head}spec: {cloudconfig: {}}`,
        want: /unknown field spec\.cloudc/,
      },
      { name: 'a field that is none', text: `${head}stats: {}`, want: /unknown field stats$/ },
      { name: 'a status that is text', text: `${head}status: ready`, want: /status is no map$/ },
      {
        name: 'a number for a name',
        text: `${head}spec: {cloudConfig: {name: 7}}`,
        want: /spec\.cloudConfig\.name is no text; quote it$/,
      },
      {
        name: 'no platform status',
        text: head,
        want: /^infrastructure\.yaml: platform status is not populated on infrastructure: status\.platformStatus is missing$/,
      },
      {
        name: 'a platform status that is text',
        text: `${head}status: {platformStatus: AWS}`,
        want: /status\.platformStatus is no map$/,
      },
      {
        name: 'a platform in the wrong case',
        text: `${head}status: {platformStatus: {type: aws}}`,
        want: /: status\.platformStatus\.type "aws" is no platform of OpenShift\. Did you mean AWS\?$/,
      },
      {
        name: 'a platform that nobody knows',
        text: `${head}status: {platformStatus: {type: Bogus}}`,
        want: /"Bogus" is no platform of OpenShift; there are: AlibabaCloud, AWS, /,
      },
      {
        name: 'no platform',
        text: `${head}status: {platformStatus: {type: ""}}`,
        want: /^infrastructure\.yaml: no platform provider found on infrastructure: status\.platformStatus\.type is missing$/,
      },
    ];
    for (const { name, text, want } of infrastructures) {
      it(`operator/R85, operator/R86: refuses an Infrastructure with ${name}`, () => {
        assert.throws(() => render({ infrastructure: text }), { message: want });
      });
    }

    const map = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: images, namespace: ns}\n';
    const shown = 'ConfigMap ns/images';
    const images = [
      { name: 'no data', text: map, want: 'unable to find Data field in provided ConfigMap' },
      { name: 'null', text: `${map}data: null\n`, want: 'unable to find Data field in provided ConfigMap' },
      {
        name: 'another key',
        text: `${map}data: {a: b}\n`,
        want: `unable to find images key "images.json" in ${shown}`,
      },
      {
        name: 'broken JSON',
        text: `${map}data: {images.json: "{"}\n`,
        want: `unable to decode images content from ${shown}: images.json:1: is not JSON: unexpected end of JSON input`,
      },
      {
        name: 'a number',
        text: `${map}data: {images.json: '{"cloudControllerManagerAWS": 7}'}\n`,
        want: `unable to decode images content from ${shown}: images.json:1: cloudControllerManagerAWS must be an image as text, not the number 7`,
      },
    ];
    for (const { name, text, want } of images) {
      it(`operator/R86: refuses a ConfigMap of images with ${name}`, () => {
        assert.throws(() => render({ images: text }), { message: `images.yaml: ${want}` });
      });
    }

    it('operator/R85: decodes ConfigMaps strictly', () => {
      assert.throws(() => render({ images: `${map}datas: {}\n` }), { message: /images\.yaml: .*datas/ });
      assert.throws(() => render({ images: secretText('images', {}) }), {
        message: /is a Secret, not a ConfigMap/,
      });
      assert.throws(() => render({ images: infrastructureText({ type: 'AWS' }) }), {
        message: /is an Infrastructure, not a ConfigMap/,
      });
    });

    it('asks for the ConfigMap of images that are given without it', () => {
      assert.throws(() => render({ images: '{"cloudControllerManagerAWS": "example.com/aws:7"}' }), {
        message: 'images.yaml: holds images alone: give the ConfigMap that has them under the key images.json',
      });
    });

    it('operator/R20: refuses images without the one of the platform', () => {
      assert.throws(() => render({ images: imagesText({}) }), {
        message: /aws: missed images in config: .* \(images\.json lacks cloudControllerManagerAWS\)$/,
      });
    });
  });

  it('operator/R95, operator/CCM-B01: a definition with anything but a static pod is refused', () => {
    const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a' } };
    assert.throws(() => render({}, acme({ bootstrapAssets: { objects: [deployment] } })), {
      message: /only static pods are allowed, found Deployment/,
    });
  });

  describe('credentials', () => {
    const files = (credentials: string, definition = acme()) =>
      render({ infrastructure: onExternal(), images: acmeImages, credentials }, definition).files;

    it('become a file for each key, for nobody but their owner; plain text wins', () => {
      const secret = secretText('acme-credentials', {
        data: { token: Buffer.from('old').toString('base64'), id: `${Buffer.from('me').toString('base64')}\n` },
        stringData: { token: SECRET },
      });
      const written = files(secret).filter(({ path }) => path.startsWith('secrets/'));
      assert.deepEqual(
        written.map(({ path, content, isSecret }) => [path, textOf(content), isSecret]),
        [
          ['secrets/acme-credentials/token', SECRET, true],
          ['secrets/acme-credentials/id', 'me', true],
        ],
      );
    });

    it('are told of where keys are missing that the provider reads', () => {
      const definition = acme({ bootstrapSecretKeys: ['ID', 'TOKEN', 'KEY'] });
      const hintsWith = (...keys: string[]) => {
        const stringData = Object.fromEntries(keys.map((key) => [key, SECRET]));
        const credentials = secretText('acme-credentials', { stringData });
        return render({ infrastructure: onExternal(), images: acmeImages, credentials }, definition).hints.join(
          '\n',
        );
      };
      assert.match(
        hintsWith('TOKEN', 'other'),
        /^Secret acme-credentials lacks ID, KEY, which the provider reads/m,
      );
      assert.doesNotMatch(hintsWith('ID', 'TOKEN', 'KEY'), /acme-credentials/);
    });

    it('are told of where they are empty, whatever reads them', () => {
      const credentials = secretText('acme-credentials', { stringData: { id: SECRET, token: '' } });
      const { hints } = render({ infrastructure: onExternal(), images: acmeImages, credentials }, acme());
      assert.match(hints.join('\n'), /^Secret acme-credentials has an empty value for token: /m);
    });

    it('are told of where they are missing', () => {
      const { hints } = render({ infrastructure: onExternal(), images: acmeImages }, acme());
      assert.match(hints.join('\n'), /no config\/cloud\.conf, and no --cloud-config for the static pod/);
      assert.match(
        hints.join('\n'),
        /no credentials: give Secret acme-credentials with --credentials-file, or put/,
      );
    });

    const refused = [
      {
        name: 'another name',
        text: secretText('other', { stringData: { a: SECRET } }),
        want: /is Secret "other"; the st/,
      },
      {
        name: 'no name',
        text: `kind: Secret\napiVersion: v1\nstringData: {a: ${SECRET}}`,
        want: /is Secret ""; the st/,
      },
      { name: 'nothing in it', text: secretText('acme-credentials', {}), want: /the Secret is empty$/ },
      {
        name: 'text that is no base64',
        text: secretText('acme-credentials', { data: { token: `${SECRET}!` } }),
        want: /data\.token is no base64; plain text goes into stringData$/,
      },
      {
        name: 'a number',
        text: secretText('acme-credentials', { stringData: { token: 7 } }),
        want: /stringData\.token is no text; quote it$/,
      },
      { name: 'a list', text: secretText('acme-credentials', { data: [SECRET] }), want: /data is no map$/ },
      {
        name: 'a key that leads elsewhere',
        text: secretText('acme-credentials', { stringData: { '../a': SECRET } }),
        want: /"\.\.\/a" cannot be the key of a Secret$/,
      },
      {
        name: 'a value that YAML takes for an alias',
        text: `apiVersion: v1\nkind: Secret\nstringData: {a: *${SECRET}}\n`,
        want: /is not valid YAML; quote values that begin with a sign$/,
      },
      {
        name: 'a value that YAML takes for a map',
        text: `apiVersion: v1\nkind: Secret\nstringData:\n  a: ${SECRET}: x\n`,
        want: /is not valid YAML at line 4, column 6; quote/,
      },
    ];
    for (const { name, text, want } of refused) {
      it(`are refused with ${name}, without a word of what is in them`, () => {
        assert.throws(
          () => files(text),
          (error: Error) => {
            assert.match(error.message, /^credentials\.yaml: /);
            assert.match(error.message, want);
            assert.equal(error.cause, undefined);
            assert.doesNotMatch(error.message, new RegExp(SECRET));
            return true;
          },
        );
      });
    }

    it('are refused where nobody reads them', () => {
      const { bootstrapSecret: _none, ...definition } = acme();
      const text = secretText('acme-credentials', { stringData: { a: SECRET } });
      assert.throws(() => files(text, definition), {
        message: /provider acme reads no credentials on the bootstrap machine; leave it out$/,
      });
      assert.throws(() => render({ infrastructure: infrastructureText({ type: 'None' }), credentials: text }), {
        message: /nobody reads credentials on the bootstrap machine; leave it out$/,
      });
    });
  });
});
