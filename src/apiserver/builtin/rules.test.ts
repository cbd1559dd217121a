import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../object/json.ts';
import type { Strategy, WriteContext } from '../registry/resource.ts';
import { ClusterIpAllocator, NodePortAllocator } from './allocators.ts';
import { autoscalerFromV1, autoscalerToV1 } from './autoscaler-versions.ts';
import { imageTag } from './image-name.ts';
import { configKeyProblems, portNameProblems } from './name-rules.ts';
import { admitPod } from './pod-admission.ts';
import { scheduleProblem } from './schedules.ts';
import { strategyOf } from './strategies.ts';

const strategy = (group: string, kind: string): Strategy =>
  strategyOf(group, kind, { clusterIps: new ClusterIpAllocator(), nodePorts: new NodePortAllocator() });
const context = (subresource = ''): WriteContext => ({
  now: new Date('2026-01-01T00:00:00Z'),
  isDryRun: false,
  subresource,
  user: { name: 'jane', groups: [] },
});

describe('scheduleProblem', () => {
  for (const { schedule, want } of [
    { schedule: '*/5 0-23 1,15 JAN-mar sun', want: undefined },
    { schedule: '@hourly', want: undefined },
    { schedule: '@every 1h30m', want: undefined },
    { schedule: '@never', want: 'unrecognized descriptor: @never' },
    { schedule: '@every soon', want: 'failed to parse duration @every soon' },
    { schedule: '60 * * * *', want: 'end of range (60) above maximum (59): 60' },
    { schedule: '* * 0 * *', want: 'beginning of range (0) below minimum (1): 0' },
    { schedule: '5-2 * * * *', want: 'beginning of range (5) beyond end of range (2): 5-2' },
    { schedule: 'x * * * *', want: 'failed to parse int from x' },
    { schedule: '*/0 * * * *', want: 'step of range should be a positive number: */0' },
    { schedule: '*/a * * * *', want: 'failed to parse int from a' },
    { schedule: '1/2/3 * * * *', want: 'too many slashes: 1/2/3' },
    { schedule: '1-2-3 * * * *', want: 'too many hyphens: 1-2-3' },
    { schedule: '* *', want: 'expected exactly 5 fields, found 2: [* *]' },
  ]) {
    it(`says of "${schedule}": ${want ?? 'nothing'}`, () => {
      assert.equal(scheduleProblem(schedule), want);
    });
  }
});

describe('imageTag', () => {
  for (const { image, want } of [
    { image: 'nginx', want: 'latest' },
    { image: 'nginx:1', want: '1' },
    { image: 'host:5000/nginx', want: 'latest' },
    { image: 'host:5000/nginx:2', want: '2' },
    { image: 'nginx@sha256:00', want: '' },
    { image: 'nginx:3@sha256:00', want: '3' },
    { image: '', want: '' },
    { image: 'a b', want: '' },
  ]) {
    it(`finds "${want}" in "${image}"`, () => {
      assert.equal(imageTag(image), want);
    });
  }
});

describe('name rules', () => {
  it('counts the bytes of a config key and keeps it inside its directory', () => {
    assert.match(configKeyProblems('a'.repeat(254))[0] ?? '', /no more than 253 bytes/);
    assert.deepEqual(configKeyProblems('..data'), ["must not start with '..'"]);
    assert.deepEqual(configKeyProblems('key.name_1'), []);
  });

  it('wants a short port name with a letter and single hyphens inside', () => {
    for (const name of ['a'.repeat(16), '80', 'a--b', '-a']) assert.equal(portNameProblems(name).length, 1, name);
    assert.deepEqual(portNameProblems('web-1'), []);
  });
});

describe('admitPod', () => {
  const pod = (spec: JsonObject): JsonObject => ({ metadata: { name: 'p' }, spec });

  it('takes priority and policy from the class that is found, also from the default one', () => {
    const classes = (name: string) => ({ name: name || 'usual', value: 7, preemptionPolicy: 'Never' });
    const named = pod({ priorityClassName: 'mine' });
    admitPod(named, classes);
    const plain = pod({});
    admitPod(plain, classes);
    for (const [object, name] of [[named, 'mine'] as const, [plain, 'usual'] as const]) {
      const { priorityClassName, priority, preemptionPolicy } = object['spec'] as JsonObject;
      assert.deepEqual(
        { priorityClassName, priority, preemptionPolicy },
        {
          priorityClassName: name,
          priority: 7,
          preemptionPolicy: 'Never',
        },
      );
    }
  });

  it('refuses a class nobody knows, and a number that is not that of the class', () => {
    const none = () => undefined;
    assert.throws(() => admitPod(pod({ priorityClassName: 'x' }), none), {
      code: 403,
      message: 'pods "p" is forbidden: no PriorityClass with name x was found',
    });
    assert.throws(() => admitPod(pod({ priority: 5 }), none), {
      code: 403,
      message: /priority \(5\) must not be provided/,
    });
  });
});

describe('pods', () => {
  it('adds debugging containers by their own endpoint and nothing else with them', () => {
    const old = { metadata: { name: 'p' }, spec: { nodeName: 'n', containers: [] }, status: { phase: 'Running' } };
    const object: JsonObject = {
      metadata: { name: 'p' },
      spec: { nodeName: 'other', ephemeralContainers: [{ name: 'd' }] },
      status: {},
    };
    strategy('', 'Pod').prepareForUpdate?.(object, old, context('ephemeralcontainers'));
    assert.deepEqual(object['spec'], { nodeName: 'n', containers: [], ephemeralContainers: [{ name: 'd' }] });
    assert.deepEqual(object['status'], { phase: 'Running' });
  });

  it('needs nameservers when it brings its own resolver', () => {
    const spec = { dnsPolicy: 'None', dnsConfig: {}, containers: [{ name: 'a', image: 'i' }] };
    const errors = strategy('', 'Pod').validate?.({ metadata: {}, spec }, context()) ?? [];
    assert.deepEqual(
      errors.map(({ field }) => field),
      ['spec.dnsConfig.nameservers'],
    );
  });
});

describe('certificate requests', () => {
  const approved = { type: 'Approved', status: 'True', lastTransitionTime: '2025-01-01T00:00:00Z' };

  it('keeps decisions from /status and everything else from /approval', () => {
    const old: JsonObject = { spec: { a: 1 }, status: { conditions: [approved], certificate: 'c' } };
    const rules = strategy('certificates.k8s.io', 'CertificateSigningRequest');
    const viaStatus: JsonObject = {
      spec: {},
      status: { conditions: [{ type: 'Denied' }, { type: 'Failed', status: 'True' }] },
    };
    rules.prepareForUpdate?.(viaStatus, old, context('status'));
    const types = (object: JsonObject) =>
      ((object['status'] as JsonObject)['conditions'] as JsonObject[]).map(({ type }) => type);
    assert.deepEqual(types(viaStatus), ['Approved', 'Failed']);
    const viaApproval: JsonObject = {
      spec: {},
      status: { conditions: [{ type: 'Approved', status: 'True' }], certificate: 'x' },
    };
    rules.prepareForUpdate?.(viaApproval, old, context('approval'));
    assert.deepEqual(viaApproval['spec'], { a: 1 });
    assert.deepEqual(viaApproval['status'], {
      certificate: 'c',
      conditions: [{ ...approved, lastUpdateTime: '2026-01-01T00:00:00Z' }],
    });
  });
});

describe('claims', () => {
  const claim = (storage: string): JsonObject => ({
    metadata: { name: 'c' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
    status: { phase: 'Bound', capacity: { storage: '2Gi' } },
  });

  for (const { size, want } of [
    { size: '3Gi', want: [] },
    { size: '1Gi', want: ['spec.resources.requests.storage'] },
  ]) {
    it(`${want.length === 0 ? 'lets' : 'does not let'} a bound claim of 2Gi ask for ${size}`, () => {
      const errors = strategy('', 'PersistentVolumeClaim').validateUpdate?.(claim(size), claim('2Gi'), context());
      assert.deepEqual(
        errors?.map(({ field }) => field),
        want,
      );
    });
  }
});

describe('events.k8s.io/v1', () => {
  const event = (more: JsonObject): JsonObject => ({
    metadata: { name: 'e', namespace: 'default' },
    eventTime: '2026-01-01T00:00:00.000000Z',
    reportingController: 'ex.io/c',
    reportingInstance: 'i',
    action: 'A',
    reason: 'R',
    type: 'Normal',
    regarding: {},
    ...more,
  });

  for (const { name, more, want } of [
    { name: 'a complete event', more: {}, want: [] },
    { name: 'a reason of 129 bytes', more: { reason: 'r'.repeat(129) }, want: ['reason'] },
    { name: 'a note of more than a kibibyte', more: { note: 'n'.repeat(1025) }, want: ['message'] },
    { name: 'a series of one', more: { series: { count: 1 } }, want: ['series.count', 'series.lastObservedTime'] },
    {
      name: 'fields of the old api',
      more: { deprecatedCount: 1, deprecatedSource: { component: 'c' }, deprecatedFirstTimestamp: 'x' },
      want: ['firstTimestamp', 'count', 'source'],
    },
  ]) {
    it(`apiserver/G12: ${want.length === 0 ? 'takes' : 'refuses'} ${name}`, () => {
      const errors = strategy('events.k8s.io', 'Event').validate?.(event(more), context()) ?? [];
      assert.deepEqual(
        errors.map(({ field }) => field),
        want,
      );
    });
  }
});

describe('autoscaler versions', () => {
  it('brings metrics, behavior and conditions through the old version and back', () => {
    const target = (more: JsonObject): JsonObject => ({ type: 'Value', ...more });
    const object: JsonObject = {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'a' },
      spec: {
        maxReplicas: 3,
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } } },
          { type: 'External', external: { metric: { name: 'e' }, target: target({ value: '5' }) } },
          { type: 'Pods', pods: { metric: { name: 'p' }, target: { type: 'AverageValue', averageValue: '2' } } },
        ],
        behavior: { scaleUp: { selectPolicy: 'Max', policies: [{ type: 'Pods', value: 1, periodSeconds: 2 }] } },
      },
      status: { desiredReplicas: 0, currentMetrics: null, conditions: [{ type: 'AbleToScale', status: 'True' }] },
    };
    assert.deepEqual(autoscalerFromV1(autoscalerToV1(object)), object);
  });

  it('ignores annotations that are no JSON', () => {
    const annotations = { 'autoscaling.alpha.kubernetes.io/metrics': '{', other: 'x' };
    const { metadata, spec } = autoscalerFromV1({ metadata: { annotations }, spec: {}, status: {} });
    assert.deepEqual(metadata, { annotations: { other: 'x' } });
    assert.deepEqual(spec, {});
  });
});
