import type { FieldShape, MessageType } from './message.ts';

const STRIPPED = '***stripped***';
/** Text of a volume context under this key is as secret as a secret: tokens of service accounts. */
const TOKENS = 'csi.storage.k8s.io/serviceAccount.tokens';
const SECRET_OPTION = /pass|key|secret|token|cred/i;

type Plain = Readonly<Record<string, unknown>>;

/** Pure: a message as it may be shown in a log, without what its description calls secret. */
export function shownMessage({ fields }: MessageType, value: Plain): Plain {
  const byLocal = new Map(
    Object.entries(fields).map(([name, field]) => [name.replaceAll('_', '').toLowerCase(), field]),
  );
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => {
      const field = byLocal.get(name.toLowerCase());
      if (field === undefined || field.isSecret === true) return [name, STRIPPED];
      return [
        name,
        field.isList === true && Array.isArray(one)
          ? one.map((each) => shown(field.shape, each))
          : shown(field.shape, one),
      ];
    }),
  );
}

function shown(shape: FieldShape, value: unknown): unknown {
  if (shape.kind === 'message' && isRecord(value)) return shownMessage(shape.type, value);
  if (shape.kind === 'map' && isRecord(value) && TOKENS in value) return { ...value, [TOKENS]: STRIPPED };
  return typeof value === 'string' ? shownOption(value) : value;
}

const isRecord = (value: unknown): value is Plain => typeof value === 'object' && value !== null;

/** Mount flags such as `password=…`. */
function shownOption(text: string): string {
  const [name = '', ...rest] = text.split('=');
  return rest.length > 0 && SECRET_OPTION.test(name) ? `${name}=${STRIPPED}` : text;
}
