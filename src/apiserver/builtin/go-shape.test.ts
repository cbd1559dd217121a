import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../object/json.ts';
import { emptyAsGo, shapeAsGo } from './go-shape.ts';

describe('shapeAsGo', () => {
  const rows: readonly { name: string; type: string; object: JsonObject; want: JsonObject }[] = [
    {
      name: 'drops what is zero and may be left out',
      type: 'core.v1.Container',
      object: { name: 'a', image: '', tty: false, command: [], env: null, securityContext: null },
      want: { name: 'a', resources: {} },
    },
    {
      name: 'keeps zero behind a pointer',
      type: 'core.v1.Probe',
      object: { terminationGracePeriodSeconds: 0, periodSeconds: 0 },
      want: { terminationGracePeriodSeconds: 0 },
    },
    {
      name: 'writes what is never left out',
      type: 'core.v1.Node',
      object: { status: { daemonEndpoints: {} } },
      want: {
        metadata: {},
        spec: {},
        status: {
          daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
          nodeInfo: {
            machineID: '',
            systemUUID: '',
            bootID: '',
            kernelVersion: '',
            osImage: '',
            containerRuntimeVersion: '',
            kubeletVersion: '',
            kubeProxyVersion: '',
            operatingSystem: '',
            architecture: '',
          },
        },
      },
    },
    {
      name: 'writes null for a list that is never left out, also when it is empty',
      type: 'rbac.v1.ClusterRole',
      object: { metadata: {}, rules: [] },
      want: { metadata: {}, rules: null },
    },
    {
      name: 'prints quantities in one form',
      type: 'core.v1.ResourceRequirements',
      object: { limits: { cpu: 1, memory: '1024Mi' }, requests: {} },
      want: { limits: { cpu: '1', memory: '1Gi' } },
    },
    {
      name: 'leaves what is no quantity to validation',
      type: 'core.v1.ResourceRequirements',
      object: { limits: { cpu: 'many' } },
      want: { limits: { cpu: 'many' } },
    },
    {
      name: 'treats inlined structs as part of their holder',
      type: 'core.v1.EphemeralContainer',
      object: { name: 'd', targetContainerName: '' },
      want: { name: 'd', resources: {} },
    },
    {
      name: 'writes null for a pointer that is never left out',
      type: 'core.v1.ScaleIOVolumeSource',
      object: { gateway: 'g', system: 's' },
      want: { gateway: 'g', system: 's', secretRef: null },
    },
    {
      name: 'leaves types it does not know alone',
      type: 'core.v1.Nothing',
      object: { a: '' },
      want: { a: '' },
    },
  ];
  for (const { name, type, object, want } of rows) {
    it(name, () => {
      shapeAsGo(object, type);
      assert.deepEqual(object, want);
    });
  }

  it('keeps a label called __proto__ an ordinary key', () => {
    const labels = JSON.parse('{"__proto__": "x"}');
    const object: JsonObject = { metadata: { labels } };
    shapeAsGo(object, 'core.v1.ConfigMap');
    assert.deepEqual(Object.keys(labels), ['__proto__']);
  });
});

describe('emptyAsGo', () => {
  const rows: readonly (readonly [type: string, want: JsonObject])[] = [
    ['core.v1.ConfigMap', { metadata: {} }],
    [
      'apps.v1.Deployment',
      {
        metadata: {},
        spec: { selector: null, template: { metadata: {}, spec: { containers: null } }, strategy: {} },
        status: {},
      },
    ],
    [
      'authentication.v1.TokenRequest',
      {
        metadata: {},
        spec: { audiences: null, expirationSeconds: null, boundObjectRef: null },
        status: { token: '', expirationTimestamp: null },
      },
    ],
  ];
  for (const [type, want] of rows) {
    it(`holds what a new ${type} cannot be without`, () => assert.deepEqual(emptyAsGo(type), want));
  }

  it('is made once', () => assert.equal(emptyAsGo('core.v1.Pod'), emptyAsGo('core.v1.Pod')));
});
