import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../api/generated/core-v1-types.ts';
import type { KubeObject } from '../../api/object.ts';
import { explanation, type Picture } from './explanation.ts';

const now = new Date('2030-01-01T00:10:00Z');
const metadata = { name: 'web-1', namespace: 'shop' };
const NOTHING: Picture = {
  waitedFor: 'Deployment shop/web is rolled out',
  withinText: '5m0s',
  now,
  objects: [],
  pods: [],
  events: [],
  logs: new Map(),
  holds: [],
  nextTimers: [],
};

const deployment: KubeObject & { readonly status: object } = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop' },
  status: {
    conditions: [
      {
        type: 'Available',
        status: 'False',
        reason: 'MinimumReplicasUnavailable',
        message: 'Deployment does not have minimum availability.',
      },
      { type: 'Progressing', status: 'True' },
    ],
  },
};

const crashing: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata,
  spec: { containers: [{ name: 'app', image: 'web' }], nodeName: 'w-1' },
  status: {
    phase: 'Running',
    conditions: [
      {
        type: 'Ready',
        status: 'False',
        reason: 'ContainersNotReady',
        message: 'containers with unready status: [app]',
      },
      { type: 'PodScheduled', status: 'True' },
    ],
    containerStatuses: [
      {
        name: 'app',
        image: 'web',
        imageID: '',
        ready: false,
        restartCount: 3,
        state: {
          waiting: { reason: 'CrashLoopBackOff', message: 'back-off 40s restarting failed container=app' },
        },
      },
    ],
  },
};

describe('explanation', () => {
  it('lab/B2: shows conditions, pods, events, last log lines, holds and what comes next', () => {
    const event = (at: string, reason: string, note: string) => ({
      apiVersion: 'events.k8s.io/v1' as const,
      kind: 'Event' as const,
      metadata: { name: reason.toLowerCase(), namespace: 'shop' },
      eventTime: at,
      type: 'Warning',
      reason,
      note,
      regarding: { kind: 'Pod', name: 'web-1' },
    });
    const text = explanation({
      ...NOTHING,
      objects: [deployment],
      pods: [crashing],
      events: [
        event('2030-01-01T00:09:50.000000Z', 'BackOff', 'Back-off restarting failed container app'),
        event('2030-01-01T00:09:00.000000Z', 'Failed', 'exit code 2'),
      ],
      logs: new Map([['shop/web-1 app', ['unknown flag --prot', 'did you mean --port?']]]),
      holds: ['pod shop/web-2 starts (for 1.2 s)'],
      nextTimers: ['in 30 s'],
    });
    assert.equal(
      text,
      `not within 5m0s of lab time: Deployment shop/web is rolled out
Deployment shop/web:
  Available=False MinimumReplicasUnavailable: Deployment does not have minimum availability.
  Progressing=True
Pod shop/web-1: Running, on w-1
  Ready=False ContainersNotReady: containers with unready status: [app]
  container app: CrashLoopBackOff: back-off 40s restarting failed container=app, not ready, 3 restarts
events:
  60s ago Warning Failed Pod web-1: exit code 2
  10s ago Warning BackOff Pod web-1: Back-off restarting failed container app
last lines of shop/web-1 app:
  unknown flag --prot
  did you mean --port?
held by:
  pod shop/web-2 starts (for 1.2 s)
next:
  in 30 s`,
    );
  });

  it('lab/B2: says little when there is little to say', () => {
    const bare: KubeObject = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'w-1' } };
    const pending: Pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [] } };
    assert.equal(
      explanation({ ...NOTHING, objects: [bare], pods: [pending] }),
      `not within 5m0s of lab time: Deployment shop/web is rolled out
Node w-1:
  no conditions yet
Pod shop/web-1: Pending, on no node`,
    );
  });

  it('shows the last ten events and the last twenty lines only', () => {
    const lines = Array.from({ length: 30 }, (_, at) => `line ${at}`);
    const text = explanation({ ...NOTHING, logs: new Map([['a/b c', lines]]) });
    assert.equal(text.includes('line 9\n'), false);
    assert.ok(text.endsWith('line 29'));
  });
});
