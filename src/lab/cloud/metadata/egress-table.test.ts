import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type EgressAttempt, type EgressRule, isEgressAllowed } from './egress-table.ts';

const attempt: EgressAttempt = {
  namespace: 'shop',
  addresses: ['169.254.169.254', '10.9.0.169'],
  protocol: 'tcp',
  port: 80,
};
const deny = (more: Partial<EgressRule> = {}): EgressRule => ({
  action: 'deny',
  to: '169.254.169.254/32',
  ...more,
});

const rows: readonly {
  readonly it: string;
  readonly rules: readonly EgressRule[];
  readonly isAllowed: boolean;
}[] = [
  { it: 'without rules', rules: [], isAllowed: true },
  { it: 'to an address that is denied', rules: [deny()], isAllowed: false },
  { it: 'to another name of a place that is denied', rules: [deny({ to: '10.9.0.0/16' })], isAllowed: false },
  { it: 'past rules for other places', rules: [deny({ to: '10.0.0.0/16' })], isAllowed: true },
  { it: 'past rules for IPv6', rules: [deny({ to: '::/0' })], isAllowed: true },
  { it: 'past rules for other protocols', rules: [deny({ protocol: 'udp' })], isAllowed: true },
  { it: 'past rules for other ports', rules: [deny({ port: 53 })], isAllowed: true },
  { it: 'past rules for other namespaces', rules: [deny({ namespaces: ['other'] })], isAllowed: true },
  {
    it: 'against a rule for all that it is',
    rules: [deny({ protocol: 'tcp', port: 80, namespaces: ['shop'] })],
    isAllowed: false,
  },
  { it: 'by the first rule that matches', rules: [deny({ action: 'allow' }), deny()], isAllowed: true },
  { it: 'against the first rule that matches', rules: [deny(), deny({ action: 'allow' })], isAllowed: false },
];

describe('egress rules', () => {
  for (const { it: sentence, rules, isAllowed } of rows)
    it(`lab/C29: a pod ${isAllowed ? 'may go' : 'may not go'} ${sentence}`, () => {
      assert.equal(isEgressAllowed(rules, attempt), isAllowed);
    });
});
