import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mirrorManifests } from './mirror-config.ts';
import { parseRegistriesConf } from './registries-conf.ts';

const CONF = `unqualified-search-registries = ["a.example", # first
  'b.example']
short-name-mode = "enforcing"

[[registry]]
location = "a.example"
prefix = "a.example"
[[registry.mirror]]
location = "m.example:5000/x"
insecure = true
[[registry.mirror]]
location='t.example'
pull-from-mirror = "tag-only"
[[registry]]
location = "b.example/c"
  [[registry.mirror]]
  location = "n.example"
  pull-from-mirror = "digest-only"
`;

const conf = (text: string, more: Readonly<Record<string, string>> = {}) =>
  mirrorManifests({ 'registries.conf': text, ...more });

describe('mirrorManifests', () => {
  // The texts are those that upstream's GenerateImageRegistryData gives for the same input.
  it('agent/M2: gives the same texts as upstream, with a certificate, an insecure mirror and one for tags', () => {
    assert.deepEqual(conf(CONF, { 'ca-bundle.crt': 'PEM\n', other: 'ignored' }), {
      'additional-registry-certificate.json':
        '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"additional-registry-certificate","namespace":"openshift-config"},"data":{"ca-bundle.crt":"PEM\\n"}}',
      'image-config.json':
        '{"kind":"Image","apiVersion":"config.openshift.io/v1","metadata":{"name":"cluster"},"spec":{"additionalTrustedCA":{"name":"additional-registry-certificate"},"registrySources":{"insecureRegistries":["m.example:5000/x"]},"imageStreamImportMode":""},"status":{}}',
      'image-digest-mirror-set.json':
        '{"kind":"ImageDigestMirrorSet","apiVersion":"config.openshift.io/v1","metadata":{"name":"additional-registry"},"spec":{"imageDigestMirrors":[{"source":"a.example","mirrors":["m.example:5000/x"]},{"source":"b.example/c","mirrors":["n.example"]}]},"status":{}}',
      'image-tag-mirror-set.json':
        '{"kind":"ImageTagMirrorSet","apiVersion":"config.openshift.io/v1","metadata":{"name":"additional-registry"},"spec":{"imageTagMirrors":[{"source":"a.example","mirrors":["t.example"]}]},"status":{}}',
    });
  });

  it('agent/M2: gives the same texts as upstream, with an insecure mirror only', () => {
    assert.deepEqual(
      conf(
        '[[registry]]\nlocation = "a.example"\n[[registry.mirror]]\nlocation = "m.example:5000/x"\ninsecure = true\n',
      ),
      {
        'image-config.json':
          '{"kind":"Image","apiVersion":"config.openshift.io/v1","metadata":{"name":"cluster"},"spec":{"additionalTrustedCA":{"name":""},"registrySources":{"insecureRegistries":["m.example:5000/x"]},"imageStreamImportMode":""},"status":{}}',
        'image-digest-mirror-set.json':
          '{"kind":"ImageDigestMirrorSet","apiVersion":"config.openshift.io/v1","metadata":{"name":"additional-registry"},"spec":{"imageDigestMirrors":[{"source":"a.example","mirrors":["m.example:5000/x"]}]},"status":{}}',
      },
    );
  });

  it('agent/M2: gives only what applies', () => {
    const tagOnly =
      '[[registry]]\nlocation = "a.example"\n[[registry.mirror]]\nlocation = "t.example"\npull-from-mirror = "tag-only"\n';
    assert.deepEqual(Object.keys(conf(tagOnly)), ['image-tag-mirror-set.json']);
    assert.deepEqual(Object.keys(conf('[[registry]]\nlocation = "a"\nmirror = [{location = "m"}]')), [
      'image-digest-mirror-set.json',
    ]);
    const withCertificate = conf(tagOnly, { 'ca-bundle.crt': '' });
    assert.deepEqual(JSON.parse(withCertificate['image-config.json'] ?? '').spec.registrySources, {});
  });

  const wrong: readonly { name: string; data: Readonly<Record<string, string>>; message: RegExp }[] = [
    {
      name: 'no registries.conf',
      data: { 'ca-bundle.crt': 'x' },
      message:
        /^the ConfigMap of imageRegistryRef names no mirrors: it has no key registries\.conf \(found ca-bundle\.crt\); add it$/,
    },
    { name: 'nothing at all', data: {}, message: /\(found none\)/ },
    { name: 'TOML that is none', data: { 'registries.conf': 'location=quay' }, message: /line 1/ },
    {
      name: 'a location that is an address without quotes',
      data: {
        'registries.conf':
          '\n[[registry]]\n\tlocation = "a"\n\n\t[[registry.mirror]]\n\tlocation = 192.168.1.1:5000\n\tinsecure = true\n',
      },
      message: /^registries\.conf cannot be read: line 6 has the value 192\.168\.1\.1:5000/,
    },
    {
      name: 'no registry',
      data: { 'registries.conf': '' },
      message: /^registries\.conf names no mirrors: there is no \[\[registry\]\] in it; add one/,
    },
    {
      name: 'a registry that is a table',
      data: { 'registries.conf': '[registry]\nlocation = "a"' },
      message: /there is no \[\[registry\]\]/,
    },
    {
      name: 'a mirror without a registry',
      data: { 'registries.conf': '[[registry.mirror]]\nlocation = "m"\n' },
      message: /there is no \[\[registry\]\]/,
    },
    {
      name: 'a registry without location',
      data: { 'registries.conf': '[[registry]]\nprefix = "a"\n[[registry.mirror]]\nlocation = "m"\n' },
      message: /a \[\[registry\]\] has no location/,
    },
    {
      name: 'a registry without mirror',
      data: { 'registries.conf': '[[registry]]\nlocation = "a"\n' },
      message: /the \[\[registry\]\] a has no \[\[registry\.mirror\]\]/,
    },
    {
      name: 'a registry with an empty list',
      data: { 'registries.conf': '[[registry]]\nlocation = "a"\nmirror = []\n' },
      message: /the \[\[registry\]\] a has no \[\[registry\.mirror\]\]/,
    },
    {
      name: 'one registry of two without mirror',
      data: {
        'registries.conf':
          '[[registry]]\nlocation = "a"\n[[registry.mirror]]\nlocation = "m"\n[[registry]]\nlocation = "b"\n',
      },
      message: /the \[\[registry\]\] b has no/,
    },
    {
      name: 'a mirror without location',
      data: { 'registries.conf': '[[registry]]\nlocation = "a"\n[[registry.mirror]]\ninsecure = true\n' },
      message: /a \[\[registry\.mirror\]\] of a has no location/,
    },
    {
      name: 'a mirror whose location is no text',
      data: { 'registries.conf': '[[registry]]\nlocation = "a"\n[[registry.mirror]]\nlocation = 5\n' },
      message: /a \[\[registry\.mirror\]\] of a has no location/,
    },
  ];
  for (const { name, data, message } of wrong) {
    it(`agent/M1: refuses ${name}`, () => {
      assert.throws(() => mirrorManifests(data), { reason: 'InvalidMirrorConfig', disposition: 'user', message });
    });
  }
});

describe('parseRegistriesConf', () => {
  it('gives the mirrors that a client asks', () => {
    assert.deepEqual(parseRegistriesConf(CONF), [
      {
        source: 'a.example',
        mirrors: [
          { location: 'm.example:5000/x', isInsecure: true },
          { location: 't.example', pullFrom: 'tag-only' },
        ],
      },
      { source: 'b.example/c', mirrors: [{ location: 'n.example', pullFrom: 'digest-only' }] },
    ]);
  });
});
