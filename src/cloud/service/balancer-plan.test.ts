import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { balancedService, type ServiceInput } from '../../../test/support/balanced-services.ts';
import { SlipwayError } from '../../base/errors.ts';
import type { LoadBalancersFacts } from '../../sdk/capabilities/load-balancers.ts';
import { type BalancerOwner, balancerName, balancerPlan, balancerRef, SCOPE_ANNOTATION } from './balancer-plan.ts';
import { checkPlan } from './plan-check.ts';

const OWNER: BalancerOwner = {
  cluster: 'kubernetes',
  clusterTags: { 'kubernetes.io/cluster/c': 'owned' },
  tagRules: {},
};
const BACKENDS = [{ nodeName: 'a', providerID: 'fake://a', addresses: [] }];
const plan = (input: ServiceInput = {}, owner = OWNER) => balancerPlan(balancedService(input), BACKENDS, owner);

describe('the plan of a balancer', () => {
  it('ccm/I5: has a name that is made of the uid, cut to 32 characters', () => {
    assert.equal(balancerName('01234567-89ab-cdef-0123-456789abcdef'), 'a0123456789abcdef0123456789abcde');
    assert.equal(balancerName('1-2'), 'a12');
  });

  it('ccm/I2: says everything that the Service says', () => {
    const { idempotencyToken, ...rest } = plan({
      metadata: { annotations: { 'acme.example/tier': 'gold', [SCOPE_ANNOTATION]: 'internal' } },
      spec: {
        ports: [
          { name: 'https', protocol: 'TCP', port: 443, nodePort: 30443, targetPort: 8443, appProtocol: 'https' },
          { port: 53, protocol: 'UDP' },
        ],
        sessionAffinity: 'ClientIP',
        externalTrafficPolicy: 'Local',
        healthCheckNodePort: 31000,
        loadBalancerIP: '203.0.113.9',
        loadBalancerSourceRanges: ['10.0.0.0/8'],
        ipFamilies: ['IPv6', 'IPv4'],
      },
    });
    assert.match(idempotencyToken, /^01234567-89ab-cdef-0123-456789abcdef-[0-9a-f]{16}$/);
    assert.deepEqual(rest, {
      name: 'a0123456789abcdef0123456789abcde',
      logicalName: 'a0123456789abcdef0123456789abcde',
      cluster: 'kubernetes',
      service: { namespace: 'default', name: 'web', uid: '01234567-89ab-cdef-0123-456789abcdef' },
      tags: { 'kubernetes.io/service-name': 'default/web', 'kubernetes.io/cluster/c': 'owned' },
      annotations: { 'acme.example/tier': 'gold', [SCOPE_ANNOTATION]: 'internal' },
      ports: [
        { name: 'https', protocol: 'TCP', port: 443, nodePort: 30443, appProtocol: 'https' },
        { protocol: 'UDP', port: 53, nodePort: 0 },
      ],
      sourceRanges: ['10.0.0.0/8'],
      scope: 'internal',
      affinitySeconds: 10_800,
      externalTrafficPolicy: 'Local',
      healthCheck: { path: '/healthz', port: 31000 },
      ipFamilies: ['IPv6', 'IPv4'],
      requestedAddress: '203.0.113.9',
      backends: BACKENDS,
    });
  });

  it('ccm/I2: is for everybody, in IPv4 and without affinity when the Service says nothing', () => {
    const { ipFamilies: _families, ...spec } = balancedService().spec;
    const made = balancerPlan({ ...balancedService(), spec }, [], OWNER);
    assert.deepEqual(
      [made.scope, made.ipFamilies, made.affinitySeconds, made.requestedAddress, made.sourceRanges],
      ['public', ['IPv4'], undefined, undefined, ['0.0.0.0/0']],
    );
  });

  const checks: readonly {
    readonly name: string;
    readonly spec: ServiceInput['spec'] & object;
    readonly port?: number;
  }[] = [
    { name: 'Local', spec: { externalTrafficPolicy: 'Local', healthCheckNodePort: 31000 }, port: 31000 },
    { name: 'Local without a port', spec: { externalTrafficPolicy: 'Local', healthCheckNodePort: 0 } },
    { name: 'Cluster', spec: { externalTrafficPolicy: 'Cluster', healthCheckNodePort: 31000 } },
    {
      name: 'of another type',
      spec: { type: 'NodePort', externalTrafficPolicy: 'Local', healthCheckNodePort: 31000 },
    },
  ];
  for (const { name, spec, port } of checks)
    it(`ccm/S30: asks for ${port === undefined ? 'no' : 'a'} health check of nodes of a Service that is ${name}`, () => {
      assert.deepEqual(plan({ spec }).healthCheck, port === undefined ? undefined : { path: '/healthz', port });
    });

  it('ccm/I2: has the same token for the same plan, and another for another', () => {
    const token = plan().idempotencyToken;
    assert.equal(plan().idempotencyToken, token);
    assert.notEqual(plan({ spec: { loadBalancerIP: '203.0.113.9' } }).idempotencyToken, token);
    assert.notEqual(plan({ metadata: { uid: 'other' } }).idempotencyToken, token);
    assert.notEqual(balancerPlan(balancedService(), [], OWNER).idempotencyToken, token);
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.string()), (annotations) => {
        const turned = Object.fromEntries(Object.entries(annotations).toReversed());
        assert.equal(
          plan({ metadata: { annotations } }).idempotencyToken,
          plan({ metadata: { annotations: turned } }).idempotencyToken,
        );
      }),
    );
  });

  it('ccm/I2: carries the tag for people only where the cloud takes it, and that of the cluster always', () => {
    const clusterOnly = { 'kubernetes.io/cluster/c': 'owned' };
    for (const tagRules of [{ maxKey: 20 }, { maxValue: 10 }, { allowed: /^[a-z]+$/ }])
      assert.deepEqual(balancerRef(balancedService(), { ...OWNER, tagRules }).tags, clusterOnly);
  });

  it('ccm/S17: cannot be made for a scope that there is not, and says which there are', () => {
    assert.throws(() => plan({ metadata: { annotations: { [SCOPE_ANNOTATION]: 'private' } } }), {
      message: `metadata.annotations[${SCOPE_ANNOTATION}] must be public or internal, not "private"`,
    });
  });
});

describe('a plan that the cloud cannot do', () => {
  const POOR: LoadBalancersFacts = {
    protocols: ['TCP'],
    healthChecks: ['tcp'],
    sourceRanges: false,
    preservesClientAddress: false,
    sessionAffinity: false,
    scopes: ['public'],
    maxPorts: 1,
  };
  const PORT = { port: 80, protocol: 'TCP' } as const;
  const cases: readonly { readonly given: ServiceInput; readonly want: RegExp }[] = [
    {
      given: { spec: { ports: [{ port: 53, protocol: 'UDP' }] } },
      want: /^spec\.ports\[0\]\.protocol is UDP, .* only TCP$/,
    },
    { given: { spec: { ports: [PORT, { ...PORT, port: 81 }] } }, want: /^spec\.ports has 2 ports, .* at most 1/ },
    {
      given: { spec: { loadBalancerSourceRanges: ['10.0.0.0/8'] } },
      want: /^spec\.loadBalancerSourceRanges asks for 10\.0\.0\.0\/8, .* cannot limit/,
    },
    {
      given: { metadata: { annotations: { [SCOPE_ANNOTATION]: 'internal' } } },
      want: /^metadata\.annotations\[slipway\.dev\/load-balancer-scope\] asks for internal, .* only public$/,
    },
    { given: { spec: { sessionAffinity: 'ClientIP' } }, want: /^spec\.sessionAffinity is ClientIP, .* use None$/ },
    {
      given: { spec: { externalTrafficPolicy: 'Local', healthCheckNodePort: 31000 } },
      want: /^spec\.externalTrafficPolicy is Local, .* has only tcp: use Cluster$/,
    },
  ];
  for (const { given, want } of cases)
    it(`ccm/S17: is refused with the field and what the cloud offers: ${want.source.slice(1, 40)}…`, () => {
      assert.throws(
        () => checkPlan(plan(given), POOR),
        (error) => error instanceof SlipwayError && error.disposition === 'user' && want.test(error.message),
      );
    });

  it('ccm/S17: is refused with all that is wrong at once', () => {
    const given = { spec: { sessionAffinity: 'ClientIP', ports: [{ port: 53, protocol: 'UDP' }] } } as const;
    assert.throws(() => checkPlan(plan(given), POOR), /UDP.*; spec\.sessionAffinity/);
  });

  it('ccm/S29: is not one that lets everybody in', () => {
    checkPlan(plan(), POOR);
    checkPlan(plan({ spec: { loadBalancerSourceRanges: ['0.0.0.0/0', '10.0.0.0/8'] } }), POOR);
  });
});
