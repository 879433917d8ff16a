// The client suggests corrections too, and ships without the server: the implementation is part of the SDK.
export { nearest } from '../../sdk/nearest.ts';
