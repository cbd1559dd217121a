import type { JsonObject } from '../../object/json.ts';
import type { Resource } from '../registry/resource.ts';
import { servedGroups } from './groups.ts';

/** What is served besides resources, without the single health checks. */
const FIXED_PATHS = [
  '/.well-known/openid-configuration',
  '/api',
  '/apis',
  '/apis/',
  '/healthz',
  '/livez',
  '/metrics',
  '/openapi/v2',
  '/openapi/v3',
  '/openapi/v3/',
  '/openid/v1/jwks',
  '/readyz',
  '/version',
];

/** `GET /` (U8). `others` are paths only the caller knows, such as `/readyz/storage`. */
export function rootPaths(resources: readonly Resource[], others: readonly string[] = []): JsonObject {
  const groups = servedGroups(resources).flatMap(({ name, versions }) => {
    const base = name === '' ? '/api' : `/apis/${name}`;
    return [base, ...versions.map(({ version }) => `${base}/${version}`)];
  });
  return { paths: [...new Set([...FIXED_PATHS, ...groups, ...others])].sort() };
}
