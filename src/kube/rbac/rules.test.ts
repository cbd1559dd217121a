import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ruleAllows } from '../../apiserver/auth/rbac-rules.ts';
import { SlipwayError } from '../../base/errors.ts';
import { type Need, needs, type Verb } from './need.ts';
import { type PolicyRule, rulesFrom } from './rules.ts';
import { certificateNeeds, electionNeeds, eventNeeds, reviewNeeds } from './runtime-needs.ts';

const VERBS: readonly Verb[] = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];
const GROUPS = ['', 'apps', 'ex.io'];
const RESOURCES = ['pods', 'pods/status', 'widgets', 'widgets/scale'];
const NAMES = ['a', 'b', 'c'];

const anyNeed: fc.Arbitrary<Need> = fc
  .record({
    group: fc.constantFrom(...GROUPS),
    resource: fc.constantFrom(...RESOURCES),
    verbs: fc.subarray([...VERBS], { minLength: 1 }),
    names: fc.option(fc.subarray(NAMES, { minLength: 1 }), { nil: undefined }),
  })
  .map(({ names, verbs, ...rest }) => {
    if (names === undefined) return { ...rest, verbs };
    const named = verbs.filter((verb) => verb !== 'deletecollection');
    return { ...rest, names, verbs: named.length === 0 ? ['get'] : named };
  });

interface At {
  readonly group: string;
  readonly resource: string;
  readonly name: string;
}

const NAMELESS: readonly string[] = ['create', 'deletecollection'];
/** Every request that a rule of these needs could speak of, and some that none does. */
const REQUESTS: readonly (readonly [Verb, At])[] = GROUPS.flatMap((group) =>
  RESOURCES.flatMap((resource) =>
    VERBS.flatMap((verb) =>
      (NAMELESS.includes(verb) ? [''] : ['', ...NAMES, 'other']).map(
        (name) => [verb, { group, resource, name }] as const,
      ),
    ),
  ),
);

/** What the needs say, without making rules of them. */
const isNeeded = (all: readonly Need[], verb: Verb, at: At) =>
  all.some(
    (need) =>
      need.group === at.group &&
      need.resource === at.resource &&
      need.verbs.includes(verb) &&
      (need.names === undefined || verb === 'create' || need.names.includes(at.name)),
  );

function isAllowed(rules: readonly PolicyRule[], verb: Verb, at: At) {
  const [resource = '', subresource = ''] = at.resource.split('/');
  const asked = { verb, group: at.group, resource, subresource, name: at.name, namespace: '', path: '' };
  return rules.some((rule) =>
    ruleAllows(
      { ...rule, resourceNames: rule.resourceNames ?? [], nonResourceURLs: [] },
      { ...asked, version: 'v1', isResourceRequest: true },
    ),
  );
}

const reasonOf = (run: () => unknown): string => {
  try {
    run();
    return 'none';
  } catch (error) {
    return error instanceof SlipwayError && error.disposition === 'user' ? error.reason : String(error);
  }
};

describe('rules from needs', () => {
  it('runtime/B1: rules of random needs allow exactly the requests of the needs', () => {
    fc.assert(
      fc.property(fc.array(anyNeed, { maxLength: 6 }), (all) => {
        const rules = rulesFrom(all);
        for (const [verb, at] of REQUESTS) {
          assert.equal(isAllowed(rules, verb, at), isNeeded(all, verb, at), JSON.stringify({ verb, at, rules }));
        }
      }),
      { numRuns: 150 },
    );
  });

  it('runtime/B2: rules do not depend on the order or the repetition of needs', () => {
    fc.assert(
      fc.property(fc.array(anyNeed, { maxLength: 6 }), (all) => {
        assert.deepEqual(rulesFrom([...all].reverse().concat(all)), rulesFrom(all));
      }),
    );
  });

  it('runtime/B2: joins resources of a group with the same verbs and sorts everything', () => {
    const all: readonly Need[] = [
      { group: 'ex.io', resource: 'widgets', verbs: ['watch', 'list', 'get'] },
      { group: 'ex.io', resource: 'gadgets', verbs: ['get', 'list', 'watch'] },
      { group: '', resource: 'configmaps', verbs: ['get'], names: ['b', 'a'] },
      { group: '', resource: 'configmaps', verbs: ['get'], names: ['c'] },
    ];
    assert.deepEqual(rulesFrom(all), [
      { apiGroups: [''], resources: ['configmaps'], resourceNames: ['a', 'b', 'c'], verbs: ['get'] },
      { apiGroups: ['ex.io'], resources: ['gadgets', 'widgets'], verbs: ['get', 'list', 'watch'] },
    ]);
  });

  it('runtime/B1: leaves out names that the same verb on all objects includes', () => {
    const all: readonly Need[] = [
      { group: '', resource: 'configmaps', verbs: ['get', 'update'], names: ['a'] },
      { group: '', resource: 'configmaps', verbs: ['get'] },
    ];
    assert.deepEqual(rulesFrom(all), [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] },
      { apiGroups: [''], resources: ['configmaps'], resourceNames: ['a'], verbs: ['update'] },
    ]);
  });

  it('runtime/B4: a list of all Secrets needs a reason, single ones and one namespace do not', () => {
    const secrets = (more: Partial<Need>): Need => ({ group: '', resource: 'secrets', verbs: ['list'], ...more });
    const table: readonly [Need, string][] = [
      [secrets({}), 'SecretsWithoutReason'],
      [secrets({ reason: '  ' }), 'SecretsWithoutReason'],
      [secrets({ verbs: ['get'] }), 'SecretsWithoutReason'],
      [secrets({ verbs: ['watch'] }), 'SecretsWithoutReason'],
      [secrets({ reason: 'finds pull secrets by label' }), 'none'],
      [secrets({ names: ['token'] }), 'none'],
      [secrets({ namespace: 'own' }), 'none'],
      [secrets({ verbs: ['create'] }), 'none'],
      [secrets({ group: 'ex.io' }), 'none'],
    ];
    for (const [need, reason] of table)
      assert.equal(
        reasonOf(() => rulesFrom([need])),
        reason,
        JSON.stringify(need),
      );
  });

  it('runtime/B4: one reason is enough for all needs of Secrets', () => {
    const reading: Need = { group: '', resource: 'secrets', verbs: ['watch'] };
    assert.equal(rulesFrom([reading, { ...reading, verbs: ['list'], reason: 'by label' }]).length, 1);
  });

  it('reliability/P62: all kinds of one group are for whoever says why', () => {
    const need: Need = { group: 'example.com', resource: '*', verbs: ['get'], reason: 'users bring their kinds' };
    assert.deepEqual(rulesFrom([need]), [{ apiGroups: ['example.com'], resources: ['*'], verbs: ['get'] }]);
  });

  it('reliability/P62: no need becomes a wildcard or a right to escalate', () => {
    const table: readonly [Need, string][] = [
      [{ group: '*', resource: 'pods', verbs: ['get'] }, 'WildcardNeed'],
      [{ group: '', resource: '*', verbs: ['get'] }, 'WildcardNeed'],
      [{ group: '', resource: '*/status', verbs: ['get'] }, 'WildcardNeed'],
      [{ group: 'example.com', resource: '*', verbs: ['get'] }, 'WildcardNeed'],
      [{ group: '', resource: '*', verbs: ['get'], reason: 'all of the core' }, 'WildcardNeed'],
      [{ group: '*', resource: '*', verbs: ['get'], reason: 'all of all' }, 'WildcardNeed'],
      [{ group: '', resource: 'pods', verbs: ['get'], names: ['*'] }, 'WildcardNeed'],
      [{ group: '', resource: 'roles', verbs: ['escalate' as Verb] }, 'ForbiddenVerb'],
      [{ group: '', resource: 'users', verbs: ['impersonate' as Verb] }, 'ForbiddenVerb'],
      [{ group: '', resource: 'pods', verbs: [] }, 'EmptyNeed'],
      [{ group: '', resource: '', verbs: ['get'] }, 'EmptyNeed'],
      [{ group: '', resource: 'pods', verbs: ['get'], names: [] }, 'EmptyNeed'],
      [{ group: '', resource: 'pods', verbs: ['deletecollection'], names: ['a'] }, 'NamedCollection'],
    ];
    for (const [need, reason] of table)
      assert.equal(
        reasonOf(() => rulesFrom([need])),
        reason,
        JSON.stringify(need),
      );
  });

  it('runtime/B1: the runtime declares what its own parts do', () => {
    const all = [
      ...electionNeeds({ namespace: 'own', name: 'lock' }),
      ...eventNeeds(),
      ...reviewNeeds(),
      ...certificateNeeds({ secret: { namespace: 'own', name: 'certs' }, mutating: ['m'], definitions: ['d'] }),
    ];
    const shown = rulesFrom(all).map(({ resources, resourceNames = [], verbs }) =>
      [resources.join(), resourceNames.join(), verbs.join()].join(' '),
    );
    assert.deepEqual(shown, [
      'secrets certs get,update',
      'mutatingwebhookconfigurations m get,patch',
      'customresourcedefinitions d get,patch',
      'tokenreviews  create',
      'subjectaccessreviews  create',
      'leases  create',
      'leases lock get,update',
      'events  create,patch',
    ]);
    assert.deepEqual(
      eventNeeds({ hasFallback: true }).map(({ group }) => group),
      ['', 'events.k8s.io'],
    );
    const creating = certificateNeeds({
      secret: { namespace: 'n', name: 's' },
      mayCreate: true,
      validating: ['v'],
    });
    assert.deepEqual(creating[0]?.verbs, ['get', 'create', 'update']);
  });

  it('runtime/B1: a need knows its subresource and its scope from the kind', () => {
    const kind = { group: 'ex.io', plural: 'widgets', scope: 'Cluster' } as const;
    assert.deepEqual(needs(kind, ['patch'], { subresource: 'status', names: ['a'] }), {
      group: 'ex.io',
      resource: 'widgets/status',
      verbs: ['patch'],
      scope: 'Cluster',
      names: ['a'],
    });
    assert.deepEqual(needs({ group: '', plural: 'pods' }, ['get']), {
      group: '',
      resource: 'pods',
      verbs: ['get'],
    });
  });
});
