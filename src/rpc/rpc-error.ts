/** Status codes of gRPC but OK, in the order of their numbers from 1 on, with the names that Go programs print. */
const NAMES = {
  CANCELLED: 'Canceled',
  UNKNOWN: 'Unknown',
  INVALID_ARGUMENT: 'InvalidArgument',
  DEADLINE_EXCEEDED: 'DeadlineExceeded',
  NOT_FOUND: 'NotFound',
  ALREADY_EXISTS: 'AlreadyExists',
  PERMISSION_DENIED: 'PermissionDenied',
  RESOURCE_EXHAUSTED: 'ResourceExhausted',
  FAILED_PRECONDITION: 'FailedPrecondition',
  ABORTED: 'Aborted',
  OUT_OF_RANGE: 'OutOfRange',
  UNIMPLEMENTED: 'Unimplemented',
  INTERNAL: 'Internal',
  UNAVAILABLE: 'Unavailable',
  DATA_LOSS: 'DataLoss',
  UNAUTHENTICATED: 'Unauthenticated',
} as const;

export type RpcCode = keyof typeof NAMES;

/** A call that did not succeed: thrown by handlers to answer with a status, and to callers who were answered with one. */
export class RpcError extends Error {
  readonly code: RpcCode;
  /** What the other side said, without the code. */
  readonly details: string;

  constructor(code: RpcCode, details: string, options?: ErrorOptions) {
    // As everybody knows it from Kubernetes: events and logs carry it as it is.
    super(`rpc error: code = ${NAMES[code]} desc = ${details}`, options);
    this.name = 'RpcError';
    this.code = code;
    this.details = details;
  }
}

const CODES: readonly RpcCode[] = Object.keys(NAMES).filter((name): name is RpcCode => name in NAMES);

export const codeNumber = (code: RpcCode): number => CODES.indexOf(code) + 1;

/** A number that nobody defined is UNKNOWN, as the protocol has it. */
export const codeOfNumber = (number: number): RpcCode => CODES[number - 1] ?? 'UNKNOWN';
