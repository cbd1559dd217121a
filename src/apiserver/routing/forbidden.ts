import type { UserInfo } from '../request.ts';
import { qualified, StatusError } from '../status.ts';
import type { RequestInfo } from './request-info.ts';

/** E17: what a user without the right is told; the same for objects that exist and those that do not (P12). */
export function forbiddenStatus(info: RequestInfo, user: UserInfo): StatusError {
  const { group, resource, subresource, name, namespace, verb, path } = info;
  if (!info.isResourceRequest) {
    return new StatusError({
      code: 403,
      reason: 'Forbidden',
      message: `forbidden: User "${user.name}" cannot ${verb} path "${path}"`,
      details: {},
    });
  }
  const full = subresource === '' ? resource : `${resource}/${subresource}`;
  const place = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  const why = `User "${user.name}" cannot ${verb} resource "${full}" in API group "${group}" ${place}`;
  return new StatusError({
    code: 403,
    reason: 'Forbidden',
    message: `${qualified(resource, group)}${name === '' ? '' : ` "${name}"`} is forbidden: ${why}`,
    details: { name, group, kind: resource },
  });
}
