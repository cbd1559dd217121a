import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import {
  imageScript,
  LabRegistry,
  type LabRegistryOptions,
  type Script,
  scriptedHttp,
  testImage,
  testTar,
  throughTime,
} from '../../../test/support/oci-world.ts';
import { VirtualClock } from '../../base/clock.ts';
import type { HttpCall } from '../../oci/http-call.ts';
import { type ReleaseImagesOptions, releaseImages } from './release-images.ts';

const REPOSITORY = 'r.example/openshift-release-dev/ocp-release';
const IMAGE = `${REPOSITORY}:4.20.1-x86_64`;
const NOBODY = '{"auths":{}}';
const JANE = JSON.stringify({ auths: { 'r.example': { auth: Buffer.from('jane:secret').toString('base64') } } });
const BROKEN = '{"auths":{"r.example":{"auth":"%"}}}';
const LOGIN = { scheme: 'bearer', username: 'jane', password: 'secret' } as const;

/** Release images of the lab's registry, and what was asked there. */
function world(options: Partial<LabRegistryOptions> = {}, more: Partial<ReleaseImagesOptions> = {}) {
  const clock = new VirtualClock();
  const registry = new LabRegistry({ clock, ...options });
  const lines: string[] = [];
  const http: HttpCall = (request) => {
    lines.push(`${request.method} ${new URL(request.url).pathname.replace(/sha256:.*/, 'sha256')}`);
    return registry.call(request);
  };
  const images = releaseImages({ http, clock, ...more });
  return { clock, registry, lines, images };
}

function scripted(script: Script) {
  const clock = new VirtualClock();
  const { http, lines } = scriptedHttp(script);
  return { images: releaseImages({ http, clock }), lines, clock };
}

describe('the digest of a release image', () => {
  it('agent/R3: replaces the tag; the registry and its port stay', async () => {
    const { images, lines } = world();
    assert.match(
      await images.digestOf(IMAGE, NOBODY),
      /^r\.example\/openshift-release-dev\/ocp-release@sha256:[0-9a-f]{64}$/,
    );
    const withPort = await images.digestOf(IMAGE.replace('r.example', 'r.example:5000'), NOBODY);
    assert.match(withPort, /^r\.example:5000\/openshift-release-dev\/ocp-release@sha256:/);
    assert.equal(lines[0], 'HEAD /v2/openshift-release-dev/ocp-release/manifests/4.20.1-x86_64');
  });

  it('agent/R3: is that of the index of an image for all processors', async () => {
    const { images, registry } = world();
    const [multi, single] = [
      await images.digestOf(`${REPOSITORY}:4.20.1-multi`, NOBODY),
      await images.digestOf(IMAGE, NOBODY),
    ];
    assert.notEqual(multi, single);
    assert.deepEqual(registry.versionOfImage(multi), { version: '4.20.1', kubernetesVersion: '1.33.5' });
  });

  it('agent/R3: is what the image has already, without a question, whatever the pull secret is', async () => {
    const { images, lines } = world();
    assert.equal(await images.digestOf('r.example/x@sha256:abc', BROKEN), 'r.example/x@sha256:abc');
    assert.deepEqual(lines, []);
  });

  it('is asked for once a minute', async () => {
    const { images, lines, clock } = world();
    const first = await images.digestOf(IMAGE, NOBODY);
    await clock.advance(59_000);
    assert.equal(await images.digestOf(IMAGE, NOBODY), first);
    assert.equal(lines.length, 1);
    await clock.advance(1000);
    assert.equal(await images.digestOf(IMAGE, NOBODY), first);
    assert.equal(lines.length, 2);
  });

  it('is asked for anew by somebody with another password', async () => {
    const { images } = world({ login: LOGIN });
    await images.digestOf(IMAGE, JANE);
    await assert.rejects(images.digestOf(IMAGE, NOBODY), { reason: 'RegistryUnauthorized' });
  });

  it('comes from a mirror, and keeps the name of the image', async () => {
    const mirrors = [{ source: REPOSITORY, mirrors: [{ location: 'm.example:5000/mirror/release' }] }];
    const { images, lines } = world({ repositories: ['mirror/release'] }, { mirrors });
    assert.match(await images.digestOf(IMAGE, NOBODY), /^r\.example\/openshift-release-dev\/ocp-release@sha256:/);
    assert.deepEqual(lines, ['HEAD /v2/mirror/release/manifests/4.20.1-x86_64']);
    assert.equal(await images.kubernetesVersionOf(IMAGE, NOBODY), '1.33.5');
  });
});

describe('the Kubernetes version of a release image', () => {
  for (const scheme of ['basic', 'bearer'] as const) {
    it(`agent/R4: is read from the image, for whoever says who he is (${scheme})`, async () => {
      const { images } = world({ login: { ...LOGIN, scheme } });
      assert.equal(await images.kubernetesVersionOf(IMAGE, JANE), '1.33.5');
      await assert.rejects(images.kubernetesVersionOf(`${REPOSITORY}:4.21.0-multi`, NOBODY), {
        reason: 'RegistryUnauthorized',
      });
    });
  }

  const versions = [
    { tag: '4.19.0-x86_64', want: '1.32.5' },
    { tag: '4.21.0-multi', want: '1.34.2' },
    { tag: '4.20.0-aarch64', want: '1.33.5' },
    { tag: '4.20.0-okd-scos.9', want: '1.33.4' },
  ];
  for (const { tag, want } of versions) {
    it(`agent/R4: is ${want} in ${tag}`, async () => {
      assert.equal(await world().images.kubernetesVersionOf(`${REPOSITORY}:${tag}`, NOBODY), want);
    });
  }

  it('is read once for each digest', async () => {
    const { images, lines, clock } = world();
    await images.kubernetesVersionOf(IMAGE, NOBODY);
    assert.deepEqual(
      lines.map((line) => line.replace(/^(\w+).*\/(\w+)\/([^/]+)$/, '$1 $2 $3')),
      ['HEAD manifests 4.20.1-x86_64', 'GET manifests sha256', 'GET blobs sha256'],
    );
    await clock.advance(3_600_000);
    await images.kubernetesVersionOf(IMAGE, NOBODY);
    assert.equal(lines.length, 4);
    const pinned = await images.digestOf(IMAGE, NOBODY);
    assert.equal(await images.kubernetesVersionOf(pinned, NOBODY), '1.33.5');
    assert.equal(lines.length, 4);
  });

  const stream = (versions: readonly string[]): string =>
    JSON.stringify({
      kind: 'ImageStream',
      spec: {
        tags: versions.map((text) => ({ name: 't', annotations: { 'io.openshift.build.versions': text } })),
      },
    });
  const inImage = (content: string) =>
    scripted(
      imageScript(testImage([gzipSync(testTar([{ name: 'release-manifests/image-references', content }]))])),
    ).images.kubernetesVersionOf('r.example/a:v1', NOBODY);

  it('agent/R4: is the first that is exactly kubernetes=VERSION', async () => {
    const texts = [
      'machine-os=1',
      'kubernetes=1.1,machine-os=1=2',
      'kubernetes=1.2=3',
      'kubernetes',
      'kubernetes=1.33.5',
      'kubernetes=9',
    ];
    assert.equal(await inImage(stream(texts)), '1.33.5');
  });

  it('agent/R4: is read from YAML as well', async () => {
    const text =
      'spec:\n  tags:\n  - name: t\n  - name: u\n    annotations:\n      io.openshift.build.versions: kubernetes=1.21.0\n';
    assert.equal(await inImage(text), '1.21.0');
  });

  const without = [
    { name: 'no tags', content: stream([]) },
    { name: 'nothing in it', content: '' },
    { name: 'a list', content: '[1]' },
    { name: 'tags that are none', content: '{"spec":{"tags":{"a":1}}}' },
    {
      name: 'tags of nonsense',
      content: '{"spec":{"tags":[null,1,{"annotations":[]},{"annotations":{"io.openshift.build.versions":5}}]}}',
    },
  ];
  for (const { name, content } of without) {
    it(`agent/R4: is KubernetesVersionNotFound for image-references with ${name}`, async () => {
      await assert.rejects(inImage(content), {
        reason: 'KubernetesVersionNotFound',
        message:
          /^unable to extract k8s from release image-references: unable to find kubernetes version: no tag in r\.example\/a:v1 /,
      });
    });
  }

  it('agent/R4: is KubernetesVersionNotFound for image-references that nobody can read', async () => {
    await assert.rejects(inImage('{"spec": ['), {
      reason: 'KubernetesVersionNotFound',
      message: /^unable to load release image-references: /,
    });
  });

  it('agent/R4: is KubernetesVersionNotFound for an image that is no release', async () => {
    const { images } = scripted(imageScript(testImage([gzipSync(testTar([{ name: 'bin/sh' }]))])));
    await assert.rejects(images.kubernetesVersionOf('r.example/a:v1', NOBODY), {
      reason: 'KubernetesVersionNotFound',
      message: /^file \/release-manifests\/image-references not found in Image r\.example\/a/,
    });
  });
});

describe('a release image that cannot be read', () => {
  const both = ['digestOf', 'kubernetesVersionOf'] as const;
  for (const ask of both) {
    it(`agent/X22: is InvalidPullSecret before anybody is asked (${ask})`, async () => {
      const { images, lines } = world();
      await assert.rejects(images[ask](IMAGE, BROKEN), { reason: 'InvalidPullSecret' });
      assert.deepEqual(lines, []);
    });

    it(`agent/X22: is ReleaseImageNotFound for a version that is not there (${ask})`, async () => {
      const { images } = world();
      await assert.rejects(images[ask](`${REPOSITORY}:4.99.0-x86_64`, NOBODY), {
        reason: 'ReleaseImageNotFound',
        disposition: 'retry',
        message:
          /^there is no image r\.example\/openshift-release-dev\/ocp-release:4\.99\.0-x86_64: r\.example answered 404; check/,
      });
    });

    it(`agent/X22: is ReleaseImageNotFound for what is no image, and only an edit helps (${ask})`, async () => {
      const { images } = world();
      await assert.rejects(images[ask]('nonsense', NOBODY), {
        reason: 'ReleaseImageNotFound',
        disposition: 'user',
      });
    });

    it(`agent/X22: is RegistryUnauthorized with a wrong password, which no message has (${ask})`, async () => {
      const { images } = world({ login: { ...LOGIN, password: 'other' } });
      await assert.rejects(images[ask](IMAGE, JANE), (thrown: Error & { reason: string }) => {
        assert.equal(thrown.reason, 'RegistryUnauthorized');
        assert.doesNotMatch(thrown.message, /secret\b(?<!pull secret)|jane/);
        return true;
      });
    });

    it(`agent/X22: is RegistryUnavailable when the registry is broken, and works when it works again (${ask})`, async () => {
      const { images, registry, clock } = world();
      const fault = registry.inject({ status: 500 });
      await assert.rejects(throughTime(clock, images[ask](IMAGE, NOBODY)), {
        reason: 'RegistryUnavailable',
        disposition: 'retry',
      });
      fault[Symbol.dispose]();
      await throughTime(clock, images[ask](IMAGE, NOBODY));
    });

    it(`agent/X22: is RegistryUnavailable when the registry does not answer in time (${ask})`, async () => {
      const { images, registry, clock } = world({}, { attempts: 1 });
      registry.inject({ delayMs: 60_000 });
      await assert.rejects(throughTime(clock, images[ask](IMAGE, NOBODY)), {
        reason: 'RegistryUnavailable',
        message: /is too slow/,
      });
      assert.equal(clock.monotonicMs(), 30_000);
    });

    it(`agent/X22: ends with the reason of whoever asked (${ask})`, async () => {
      const { images, registry, clock } = world();
      registry.inject({ delayMs: 10_000 });
      const control = new AbortController();
      const work = images[ask](IMAGE, NOBODY, control.signal);
      await clock.advance(1);
      control.abort(new Error('enough'));
      await assert.rejects(work, { message: 'enough' });
    });
  }

  it('agent/X22: is RegistryUnavailable when bytes are not what they should be, and nothing of it is remembered', async () => {
    const { images, registry, clock } = world();
    registry.inject({ path: '/blobs/', isDamaged: true, times: 1 });
    await assert.rejects(images.kubernetesVersionOf(IMAGE, NOBODY), {
      reason: 'RegistryUnavailable',
      message: /gave wrong bytes/,
    });
    assert.equal(await throughTime(clock, images.kubernetesVersionOf(IMAGE, NOBODY)), '1.33.5');
    registry.inject({ path: '/manifests/sha256', isDamaged: true, times: 1 });
    await assert.rejects(images.kubernetesVersionOf(`${REPOSITORY}:4.21.0-multi`, NOBODY), {
      reason: 'RegistryUnavailable',
    });
  });
});
