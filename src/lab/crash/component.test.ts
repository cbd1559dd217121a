import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { componentOf, isBy } from './component.ts';

const account = (name: string) => `system:serviceaccount:kube-system:${name}`;
const known = {
  standIns: [
    { name: 'deployment', user: account('deployment-controller') },
    { name: 'scheduler', user: 'system:kube-scheduler' },
    { name: 'endpoints', user: account('endpointslice-controller') },
    { name: 'endpoints', user: account('endpoint-controller') },
  ],
  nodes: ['w-1', 'w-2'],
};

describe('componentOf', () => {
  const standIns = [
    { text: 'deployment', users: [account('deployment-controller')] },
    { text: 'deployment-controller', users: [account('deployment-controller')] },
    { text: account('deployment-controller'), users: [account('deployment-controller')] },
    { text: 'scheduler', users: ['system:kube-scheduler'] },
    { text: 'system:kube-scheduler', users: ['system:kube-scheduler'] },
    { text: 'endpoints', users: [account('endpointslice-controller'), account('endpoint-controller')] },
    { text: 'endpoint-controller', users: [account('endpoint-controller')] },
  ];
  for (const { text, users } of standIns)
    it(`lab/B3: ${text} is a stand-in`, () => {
      assert.deepEqual(componentOf(text, known), { kind: 'stand-in', users: new Set(users) });
    });

  for (const text of ['node/w-2', 'system:node:w-2'])
    it(`lab/B3: ${text} is a node`, () => {
      assert.deepEqual(componentOf(text, known), { kind: 'node', name: 'w-2', user: 'system:node:w-2' });
    });

  it('lab/B3: pod/ns/name is a pod, whether it is there or not', () => {
    assert.deepEqual(componentOf('pod/kube-system/ccm', known), {
      kind: 'pod',
      namespace: 'kube-system',
      name: 'ccm',
    });
  });

  for (const text of [
    '',
    'deploymnt',
    'node/w-3',
    'system:node:',
    'w-1',
    'pod/x',
    'pod/x/',
    'pod//x',
    'pod/a/b/c',
    'controller',
  ])
    it(`lab/B3: "${text}" is nobody, and what there is is listed`, () => {
      assert.throws(() => componentOf(text, known), {
        reason: 'UnknownComponent',
        message: /has deployment, scheduler, endpoints, node\/w-1, node\/w-2, and pod\/<namespace>\/<name>/,
      });
    });
});

describe('isBy', () => {
  const write = { cluster: 'lab', method: 'POST', path: '/', at: new Date(0) };
  const pod = { namespace: 'a', name: 'p', uid: 'u' };

  it('lab/B3: knows stand-ins and nodes by their user, and pods by what their token says', () => {
    const [deployment, node, child] = ['deployment', 'node/w-1', 'pod/a/p'].map((text) =>
      componentOf(text, known),
    );
    assert.ok(deployment !== undefined && node !== undefined && child !== undefined);
    const by = (user: string, ofPod?: typeof pod) =>
      [deployment, node, child].map((one) =>
        isBy(one, { ...write, user, ...(ofPod !== undefined && { pod: ofPod }) }),
      );
    assert.deepEqual(by(account('deployment-controller')), [true, false, false]);
    assert.deepEqual(by('system:node:w-1'), [false, true, false]);
    assert.deepEqual(by('system:serviceaccount:a:default', pod), [false, false, true]);
    assert.deepEqual(by('system:serviceaccount:a:default', { ...pod, name: 'q' }), [false, false, false]);
    assert.deepEqual(by('system:serviceaccount:a:default'), [false, false, false]);
  });
});
