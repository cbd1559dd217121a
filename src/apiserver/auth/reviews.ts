import { cloneJson, isJsonObject, type JsonObject } from '../../object/json.ts';
import { emptyAsGo } from '../builtin/go-shape.ts';
import type { ApiResponse, UserInfo } from '../request.ts';
import { objectAnswer } from '../rest/answers.ts';
import { checkIdentity, decodeBody, reportProblems } from '../rest/decode.ts';
import { textOf, timestamp } from '../rest/object-meta.ts';
import { writeOptions } from '../rest/options.ts';
import { negotiateObject } from '../rest/present.ts';
import type { AuthorizationAttributes, Scope } from '../rest/services.ts';
import { badRequest } from '../status.ts';
import type { TokenAuthenticator } from './authenticator.ts';
import type { RbacAuthorizer } from './rbac-authorizer.ts';
import { checkReview, objectOf, type ReviewKind, textsOf } from './review-checks.ts';
import type { ServiceAccountTokens } from './service-account-tokens.ts';
import { mutateVirtual, ownVirtual, validateVirtual } from './virtual-create.ts';

type Review = (scope: Scope, object: JsonObject) => Promise<JsonObject> | JsonObject;

export interface ReviewOptions {
  /** Absent when everything is allowed. */
  readonly rbac: RbacAuthorizer | undefined;
  readonly tokens: readonly TokenAuthenticator[];
  readonly serviceAccounts: ServiceAccountTokens;
  readonly issuer: () => string;
}

/** Kinds that are answered and never stored (Z5, Z6), by `group/plural`. */
export function reviewHandlers(
  options: ReviewOptions,
): ReadonlyMap<string, (scope: Scope) => Promise<ApiResponse>> {
  const reviews: Readonly<Record<string, Review>> = {
    'authorization.k8s.io/selfsubjectaccessreviews': (scope, review) => access(scope, review, 'self'),
    'authorization.k8s.io/subjectaccessreviews': (scope, review) => access(scope, review, 'other'),
    'authorization.k8s.io/localsubjectaccessreviews': (scope, review) => access(scope, review, 'local'),
    'authorization.k8s.io/selfsubjectrulesreviews': (scope, { spec }) => ({
      metadata: {},
      spec: {},
      status: rulesStatus(options.rbac, scope.user, textOf(objectOf(spec)['namespace'])),
    }),
    'authentication.k8s.io/selfsubjectreviews': ({ user, clock }) => ({
      metadata: { creationTimestamp: timestamp(clock.now()) },
      status: { userInfo: userBody(user) },
    }),
    'authentication.k8s.io/tokenreviews': async (_scope, { spec }) => ({
      status: await tokenStatus(options, objectOf(spec)),
    }),
  };
  return new Map(Object.entries(reviews).map(([path, review]) => [path, (scope) => answer(scope, review)]));
}

async function answer(scope: Scope, review: Review): Promise<ApiResponse> {
  const as = negotiateObject(scope);
  const options = writeOptions(scope.request, 'CreateOptions');
  const decoded = await decodeBody(scope);
  reportProblems(scope, decoded, options.fieldValidation);
  checkIdentity(scope, decoded.object, '');
  const { schema, typeName = '' } = scope.resource;
  const asked = { object: decoded.object, options, schema, typeName };
  ownVirtual(scope, asked);
  showStatus(asked.object, typeName);
  const object = await mutateVirtual(scope, asked);
  // What it asks for is judged first, then whether it may ask.
  const result = await review(scope, object);
  await validateVirtual(scope, { ...asked, object });
  const { kind = '', apiVersion = '', metadata = {}, spec, ...rest } = object;
  return objectAnswer(
    201,
    { kind, apiVersion, metadata, ...(spec !== undefined && { spec }), ...rest, ...result },
    as,
  );
}

/** A status that is still to come is shown as the empty one it is. */
function showStatus(object: JsonObject, typeName: string): void {
  const { status } = emptyAsGo(typeName);
  if (object['status'] === undefined && status !== undefined) object['status'] = cloneJson(status);
}

function access(scope: Scope, review: JsonObject, kind: ReviewKind): JsonObject {
  checkReview(review, kind, scope.info.namespace);
  const spec = objectOf(review['spec']);
  const user =
    kind === 'self'
      ? scope.user
      : { name: textOf(spec['user']), groups: textsOf(spec['groups']), uid: textOf(spec['uid']) };
  const { isAllowed, reason } = scope.authorizer.authorize(attributesOf(spec, user));
  return { status: { allowed: isAllowed, ...(reason !== '' && { reason }) } };
}

function attributesOf(spec: JsonObject, user: UserInfo): AuthorizationAttributes {
  const isResourceRequest = isJsonObject(spec['resourceAttributes']);
  const asked = objectOf(isResourceRequest ? spec['resourceAttributes'] : spec['nonResourceAttributes']);
  const field = (name: string): string => textOf(asked[name]);
  return {
    user,
    isResourceRequest,
    verb: field('verb'),
    group: field('group'),
    version: field('version'),
    resource: field('resource'),
    subresource: field('subresource'),
    namespace: field('namespace'),
    name: field('name'),
    path: field('path'),
  };
}

/** What a user may do in a namespace, as far as roles tell it. */
function rulesStatus(rbac: RbacAuthorizer | undefined, user: UserInfo, namespace: string): JsonObject {
  if (namespace === '') throw badRequest('no namespace on request');
  const problem = rbac?.problem(user, namespace) ?? '';
  const rules = [...(rbac?.grants(user, namespace) ?? [])].flatMap((grant) => grant.rules);
  return {
    resourceRules: rules
      .filter(({ resources }) => resources.length > 0)
      .map(({ verbs, apiGroups, resources, resourceNames }) => ({
        verbs: [...verbs],
        apiGroups: [...apiGroups],
        resources: [...resources],
        ...(resourceNames.length > 0 && { resourceNames: [...resourceNames] }),
      })),
    nonResourceRules: rules
      .filter(({ nonResourceURLs }) => nonResourceURLs.length > 0)
      .map(({ verbs, nonResourceURLs }) => ({ verbs: [...verbs], nonResourceURLs: [...nonResourceURLs] })),
    incomplete: false,
    ...(problem !== '' && { evaluationError: problem }),
  };
}

export function userBody({ name, uid = '', groups, extra = {} }: UserInfo): JsonObject {
  const entries = Object.entries(extra);
  return {
    username: name,
    ...(uid !== '' && { uid }),
    groups: [...groups],
    ...(entries.length > 0 && { extra: Object.fromEntries(entries.map(([key, values]) => [key, [...values]])) }),
  };
}

async function tokenStatus(
  { tokens, serviceAccounts, issuer }: ReviewOptions,
  spec: JsonObject,
): Promise<JsonObject> {
  const token = textOf(spec['token']);
  if (token === '') throw badRequest('token is required for TokenReview in authentication');
  const asked = textsOf(spec['audiences']);
  const audiences = asked.length > 0 ? asked : [issuer()];
  const verified = serviceAccounts.verify(token, audiences);
  if (verified !== undefined && 'user' in verified) {
    return { authenticated: true, user: userBody(verified.user), audiences: [...verified.audiences] };
  }
  for (const authenticator of tokens) {
    const user = authenticator === serviceAccounts ? undefined : await authenticator.userOf(token);
    if (user !== undefined) return { authenticated: true, user: userBody(user), audiences: [...audiences] };
  }
  const invalid = 'invalid bearer token';
  return { user: {}, error: verified === undefined ? invalid : `[${invalid}, ${verified.problem}]` };
}
