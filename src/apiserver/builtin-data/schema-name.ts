/**
 * OpenAPI and protobuf name a type by its Go package, with a long prefix that says nothing. The tables use what is left:
 * `core.v1.Pod`, `meta.v1.ObjectMeta`.
 */
const PREFIXES: readonly (readonly [short: string, long: string])[] = [
  ['meta.v1.', 'io.k8s.apimachinery.pkg.apis.meta.v1.'],
  ['resource.', 'io.k8s.apimachinery.pkg.api.resource.'],
  ['intstr.', 'io.k8s.apimachinery.pkg.util.intstr.'],
  ['runtime.', 'io.k8s.apimachinery.pkg.runtime.'],
  ['apiextensions.v1.', 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.'],
  ['apiregistration.v1.', 'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.'],
  ['', 'io.k8s.api.'],
];

/** `io.k8s.api.core.v1.Pod` → `core.v1.Pod`. */
export function shortName(long: string): string {
  const [short, prefix] = PREFIXES.find(([, candidate]) => long.startsWith(candidate)) ?? ['', ''];
  return `${short}${long.slice(prefix.length)}`;
}

/** `core.v1.Pod` → `io.k8s.api.core.v1.Pod`. */
export function longName(short: string): string {
  const [prefix, long] = PREFIXES.find(([candidate]) => short.startsWith(candidate)) ?? ['', ''];
  return `${long}${short.slice(prefix.length)}`;
}

const MACHINERY = ['meta.v1', 'resource', 'intstr', 'runtime'];

/** The table a type is in: one per package, and one for what all packages share. */
export function tableOf(short: string): string {
  const packageName = short.slice(0, short.lastIndexOf('.'));
  return MACHINERY.includes(packageName) ? 'machinery' : packageName;
}
