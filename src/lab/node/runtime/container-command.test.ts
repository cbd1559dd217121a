import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Container, Pod, PodSpec } from '../../../api/generated/core-v1-types.ts';
import { containerArgv, nonRootProblem, podHostname, unenforced } from './container-command.ts';
import type { ContainerStart } from './container-runtime.ts';
import type { CatalogueImage } from './image-catalogue.ts';
import { findImage, imageName } from './image-reference.ts';

const pod = (spec: Partial<PodSpec> = {}, name = 'p'): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'ns', uid: 'u' },
  spec: { containers: [], ...spec },
});

describe('imageName', () => {
  const rows = {
    nginx: 'nginx',
    'nginx:1.25': 'nginx',
    'acme/npu:v1': 'acme/npu',
    'registry:5000/acme/npu': 'registry:5000/acme/npu',
    'registry:5000/acme/npu:v1': 'registry:5000/acme/npu',
    'quay.io/acme/npu@sha256:0123abcd': 'quay.io/acme/npu',
    'quay.io/acme/npu:v1@sha256:0123abcd': 'quay.io/acme/npu',
    '': '',
  };
  for (const [reference, want] of Object.entries(rows))
    it(`lab/N11: ${reference || 'nothing'} is ${want || 'nothing'}`, () =>
      assert.equal(imageName(reference), want));

  const image = { argv: ['/x'] };
  const found = [
    { key: 'acme/npu', reference: 'acme/npu:v1', want: true },
    { key: 'acme/npu:v1', reference: 'acme/npu:v1@sha256:00', want: true },
    { key: 'acme/npu@sha256:00', reference: 'acme/npu:v1@sha256:00', want: true },
    { key: 'acme/npu:latest', reference: 'acme/npu', want: true },
    { key: 'acme/npu:v1', reference: 'acme/npu:v2', want: false },
    { key: 'acme/npu:latest', reference: 'acme/npu@sha256:00', want: false },
    { key: 'acme/npu:v1', reference: 'acme/npu', want: false },
  ];
  for (const { key, reference, want } of found)
    it(`lab/N11: ${key} of the catalogue is ${want ? '' : 'not '}meant by ${reference}`, () =>
      assert.deepEqual(findImage({ [key]: image }, reference), want ? { key, image } : undefined));

  it('lab/N11: takes the most exact, and only what the catalogue has itself', () => {
    const catalogue = { 'acme/npu': { argv: ['other'] }, 'acme/npu:v1': image };
    assert.equal(findImage(catalogue, 'acme/npu:v1')?.key, 'acme/npu:v1');
    assert.equal(findImage({}, 'constructor'), undefined);
    assert.equal(findImage({}, '__proto__:latest'), undefined);
  });
});

describe('containerArgv', () => {
  const IMAGE: CatalogueImage = { argv: ['/entry', 'sub', '--cmd', 'x'], entrypoint: 2 };
  const rows: readonly {
    readonly name: string;
    readonly image?: CatalogueImage;
    readonly start?: Pick<ContainerStart, 'command' | 'args' | 'address'>;
    readonly want: string;
  }[] = [
    { name: 'entrypoint and CMD of the image', want: '/entry sub --cmd x' },
    { name: 'args replace CMD', start: { args: ['-v'] }, want: '/entry sub -v' },
    { name: 'command replaces the entrypoint and drops CMD', start: { command: ['/other'] }, want: '/other' },
    { name: 'command and args replace both', start: { command: ['/other'], args: ['-v'] }, want: '/other -v' },
    { name: 'args may be empty', start: { args: [] }, want: '/entry sub' },
    { name: 'one word is the entrypoint unless told otherwise', image: { argv: ['/e', '-c'] }, want: '/e -c' },
    {
      name: 'a mapped program is one of this machine',
      image: { argv: ['/e'], programs: { '/bin/driver': '/host/driver.js' } },
      start: { command: ['/bin/driver', '--endpoint', '/bin/driver'] },
      want: '/host/driver.js --endpoint /bin/driver',
    },
    {
      name: 'bind comes last, with the address of the pod',
      image: { argv: ['/e'], foreign: true, bind: ['--bind-address={{wire}}', '--metrics={{wire}}:{{wire}}'] },
      start: { args: ['-v'], address: { wire: '127.16.32.1', api: '10.16.32.1' } },
      want: '/e -v --bind-address=127.16.32.1 --metrics=127.16.32.1:127.16.32.1',
    },
  ];
  for (const { name, image = IMAGE, start = {}, want } of rows) {
    const rule = name.startsWith('bind') ? 'X8' : 'N11';
    it(`lab/${rule}: ${name}`, () => assert.equal(containerArgv(image, start).join(' '), want));
  }

  it('lab/N11: whatever the manifest says is passed on as it is', () => {
    const words = fc.array(fc.string(), { minLength: 1 });
    fc.assert(
      fc.property(words, words, (command, args) => {
        assert.deepEqual(containerArgv({ argv: ['/x'] }, { command, args }), [...command, ...args]);
      }),
    );
  });
});

describe('podHostname', () => {
  const long = 'a'.repeat(62);
  const rows = [
    { name: 'its own', spec: { hostname: 'db-0' }, want: 'db-0' },
    { name: 'its name', spec: {}, want: 'p' },
    { name: 'that of its node in the host network', spec: { hostNetwork: true, nodeName: 'n1' }, want: 'n1' },
  ];
  for (const { name, spec, want } of rows) it(name, () => assert.equal(podHostname(pod(spec)), want));
  it('is cut to the length of a label, and never ends in a dash', () => {
    assert.equal(podHostname(pod({}, `${long}-b`)), long);
  });
});

describe('nonRootProblem', () => {
  const container = (securityContext?: Container['securityContext']): Container => ({
    name: 'c',
    ...(securityContext !== undefined && { securityContext }),
  });
  const image = (user?: number): CatalogueImage => ({ argv: ['/x'], ...(user !== undefined && { user }) });
  const strict = { runAsNonRoot: true };
  const WHERE = '(pod: "p_ns(u)", container: c)';
  const ROOT = `container has runAsNonRoot and image will run as root ${WHERE}; give the image another user in the catalogue`;
  const rows: readonly {
    readonly name: string;
    readonly own?: Container['securityContext'];
    readonly common?: PodSpec['securityContext'];
    readonly user?: number;
    readonly want?: string;
  }[] = [
    { name: 'nothing is asked' },
    { name: 'an image runs as root unless told otherwise', own: strict, want: ROOT },
    { name: 'the pod may ask as well', common: strict, want: ROOT },
    { name: 'the container is heard before its pod', common: strict, own: { runAsNonRoot: false } },
    { name: 'an image with a user', own: strict, user: 1000 },
    { name: 'another user than that of the image', own: { ...strict, runAsUser: 5 } },
    { name: 'a user of the pod', own: strict, common: { runAsUser: 5 } },
    {
      name: 'root, and not root',
      own: { ...strict, runAsUser: 0 },
      user: 1000,
      want: `container's runAsUser breaks non-root policy ${WHERE}`,
    },
  ];
  for (const { name, own, common, user, want } of rows) {
    it(`lab/P11: ${name}`, () => {
      const asking = pod(common === undefined ? {} : { securityContext: common });
      assert.equal(nonRootProblem(asking, container(own), image(user)), want);
    });
  }
});

describe('unenforced', () => {
  it('lab/P11: names limits and everything of security contexts but runAsNonRoot, once', () => {
    const container = { name: 'c', resources: { limits: { cpu: '1' } }, securityContext: { privileged: true } };
    const spec = {
      securityContext: { fsGroup: 1, runAsNonRoot: true },
      initContainers: [container],
      containers: [container],
    };
    assert.deepEqual(unenforced(pod(spec)), [
      'resources.limits',
      'securityContext.fsGroup',
      'securityContext.privileged',
    ]);
    assert.deepEqual(unenforced(pod({ securityContext: {}, containers: [{ name: 'c', resources: {} }] })), []);
  });
});
