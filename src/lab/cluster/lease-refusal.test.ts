import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseRequestInfo } from '../../apiserver/routing/request-info.ts';
import { leaseRefusal } from './lease-refusal.ts';

const LEASES = '/apis/coordination.k8s.io/v1/namespaces';
const refusal = (method: string, path: string) =>
  leaseRefusal(parseRequestInfo(method, path, new URLSearchParams()));

describe('leaseRefusal', () => {
  const refused = [
    ['POST', `${LEASES}/default/leases`],
    ['PUT', `${LEASES}/default/leases/leader`],
    ['PATCH', `${LEASES}/kube-system/leases/leader`],
    ['DELETE', `${LEASES}/default/leases/leader`],
  ] as const;
  for (const [method, path] of refused)
    it(`lab/T10: ${method} ${path} is refused, with a way on`, () => {
      assert.match(refusal(method, path) ?? '', /^the time of this lab jumps .* clock real or scaled/);
    });

  const served = [
    ['GET', `${LEASES}/default/leases/leader`],
    ['GET', `${LEASES}/default/leases`],
    ['PUT', `${LEASES}/kube-node-lease/leases/w-1`],
    ['POST', `${LEASES}/kube-node-lease/leases`],
    ['POST', '/apis/example.com/v1/namespaces/default/leases'],
    ['POST', '/api/v1/namespaces/default/configmaps'],
    ['POST', '/version'],
  ] as const;
  for (const [method, path] of served)
    it(`lab/T10: ${method} ${path} is served`, () => {
      assert.equal(refusal(method, path), undefined);
    });
});
