import { type FieldError, forbidden, invalid, notSupported, required } from '../../object/field-error.ts';
import { getKey, type JsonObject } from '../../object/json.ts';
import { dns1035LabelProblems, dnsSubdomainProblems } from '../../object/names.ts';
import { type Conversion, optionalObjectAt, textAt } from './definition.ts';

const STRATEGIES = ['None', 'Webhook'];
const REVIEW_VERSIONS = ['v1', 'v1beta1'];
const URL_FORM = '; desired format: https://host[/path]';

export function conversionErrors(conversion: Conversion | undefined, path: string): readonly FieldError[] {
  if (conversion === undefined) return [];
  const { strategy, clientConfig, reviewVersions } = conversion;
  const configPath = `${path}.webhookClientConfig`;
  const versionsPath = `${path}.conversionReviewVersions`;
  if (strategy === 'Webhook') {
    return [...clientConfigErrors(clientConfig, configPath), ...reviewVersionErrors(reviewVersions, versionsPath)];
  }
  const why = 'should not be set when strategy is not set to Webhook';
  const at = `${path}.strategy`;
  return [
    ...(strategy === ''
      ? [required(at)]
      : STRATEGIES.includes(strategy)
        ? []
        : [notSupported(at, strategy, STRATEGIES)]),
    ...(clientConfig === undefined ? [] : [forbidden(configPath, why)]),
    ...(reviewVersions.length === 0 ? [] : [forbidden(versionsPath, why)]),
  ];
}

function clientConfigErrors(config: JsonObject | undefined, path: string): readonly FieldError[] {
  if (config === undefined) return [required(path, 'required when strategy is set to Webhook')];
  const url = getKey(config, 'url');
  const service = optionalObjectAt(config, 'service');
  if ((typeof url === 'string') === (service !== undefined)) {
    return [required(path, 'exactly one of url or service is required')];
  }
  return typeof url === 'string' ? urlErrors(url, `${path}.url`) : serviceErrors(service ?? {}, `${path}.service`);
}

function urlErrors(text: string, path: string): readonly FieldError[] {
  const match =
    /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/(?:([^/?#]*)@)?([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/s.exec(text);
  const [, scheme = '', user, host = '', query = '', fragment = ''] = match ?? [];
  const errors: FieldError[] = [];
  const lowered = scheme.toLowerCase();
  if (lowered !== 'https') {
    errors.push(invalid(path, lowered, `'https' is the only allowed URL scheme${URL_FORM}`));
  }
  if (host === '') errors.push(invalid(path, '', `host must be specified${URL_FORM}`));
  if (user !== undefined) errors.push(invalid(path, user, 'user information is not permitted in the URL'));
  if (fragment !== '') errors.push(invalid(path, fragment, 'fragments are not permitted in the URL'));
  if (query !== '') errors.push(invalid(path, query, 'query parameters are not permitted in the URL'));
  return errors;
}

function serviceErrors(service: JsonObject, path: string): readonly FieldError[] {
  const port = getKey(service, 'port') ?? 443;
  const errors: FieldError[] = [];
  // Upstream mixes up the two here.
  if (textAt(service, 'namespace') === '') errors.push(required(`${path}.name`));
  if (textAt(service, 'name') === '') errors.push(required(`${path}.namespace`));
  if (typeof port !== 'number' || port < 1 || port > 65_535) {
    errors.push(invalid(`${path}.port`, port, 'port is not valid: must be between 1 and 65535, inclusive'));
  }
  return [...errors, ...servicePathErrors(textAt(service, 'path'), `${path}.path`)];
}

function servicePathErrors(text: string, path: string): readonly FieldError[] {
  if (text === '' || text === '/') return [];
  if (text === '//') return [invalid(path, text, 'segment[0] may not be empty')];
  const errors = text.startsWith('/') ? [] : [invalid(path, text, "must start with a '/'")];
  const segments = text.slice(1).replace(/\/$/, '').split('/');
  return [
    ...errors,
    ...segments.flatMap((segment, index) => {
      const problems =
        segment === ''
          ? [`segment[${index}] may not be empty`]
          : dnsSubdomainProblems(segment).map((problem) => `segment[${index}]: ${problem}`);
      return problems.map((problem) => invalid(path, text, problem));
    }),
  ];
}

function reviewVersionErrors(versions: readonly string[], path: string): readonly FieldError[] {
  if (versions.length === 0) return [required(path)];
  const errors = versions.flatMap((version, index) => {
    const at = `${path}[${index}]`;
    if (versions.indexOf(version) < index) return [invalid(at, version, 'duplicate version')];
    return dns1035LabelProblems(version).map((problem) => invalid(at, version, problem));
  });
  if (!versions.some((version) => REVIEW_VERSIONS.includes(version))) {
    errors.push(invalid(path, [...versions], `must include at least one of ${REVIEW_VERSIONS.join(', ')}`));
  }
  return errors;
}
