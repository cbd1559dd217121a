import { enumeration, message, oneOfNames, string } from './message.ts';
import { serverStream, service, unary } from './rpc-service.ts';

const ServingStatus = enumeration('grpc.health.v1.HealthCheckResponse.ServingStatus', {
  UNKNOWN: 0,
  SERVING: 1,
  NOT_SERVING: 2,
  SERVICE_UNKNOWN: 3,
});
const HealthCheckRequest = message('grpc.health.v1.HealthCheckRequest', { service: string(1) });
const HealthCheckResponse = message('grpc.health.v1.HealthCheckResponse', {
  status: oneOfNames(1, ServingStatus),
});

/** The health protocol of gRPC; an empty service is the server as a whole. */
export const Health = service('grpc.health.v1.Health', {
  Check: unary(HealthCheckRequest, HealthCheckResponse),
  Watch: serverStream(HealthCheckRequest, HealthCheckResponse),
});
