// Generated from docs/openapi.json and src/kernel by `npm run golden`. Do not edit.

/** The allowed values of each field with a closed set, by operation. */
export const fieldValues = {
  listPayments: {
    status: ['pending', 'requires_action', 'processing', 'authorized', 'partially_captured', 'captured', 'settled', 'partially_refunded', 'refunded', 'disputed', 'charged_back', 'failed', 'canceled', 'expired'],
  },
  createPayment: {
    captureMethod: ['automatic', 'manual'],
    scenario: ['approve', 'require_action', 'async', 'capture_fails', 'refund_fails', 'refund_pending', 'dispute', 'settle_short', 'settle_missing', 'settle_duplicate', 'settle_unknown', 'decline:insufficient_funds', 'decline:generic_decline', 'decline:do_not_honor', 'decline:expired_card', 'decline:incorrect_cvc', 'decline:incorrect_number', 'decline:incorrect_pin', 'decline:invalid_account', 'decline:account_closed', 'decline:lost_card', 'decline:stolen_card', 'decline:pickup_card', 'decline:restricted_card', 'decline:fraudulent', 'decline:card_not_supported', 'decline:currency_not_supported', 'decline:card_velocity_exceeded', 'decline:withdrawal_limit_exceeded', 'decline:authentication_failed', 'decline:issuer_not_available', 'decline:processing_error', 'decline:try_again_later', 'decline:transaction_not_allowed', 'decline:mandate_revoked'],
    type: ['card', 'bank_debit', 'bank_transfer', 'wallet'],
    number: ['4242424242424242', '5555555555554444', '378282246310005', '4000002500003155', '4000000000000002', '4000000000009995', '4000000000009987', '4000000000009979', '4000000000000069', '4000000000000127', '4000000000000119', '4242424242424241', '4000000000006975', '4100000000000019', '4000000000000341', '4000000000005126', '4000000000007726', '4000000000000259'],
  },
  advancePayment: {
    action: ['require_action', 'process', 'authorize', 'settle', 'retry', 'cancel', 'expire', 'capture', 'fail', 'refund', 'dispute'],
    failureCode: ['insufficient_funds', 'generic_decline', 'do_not_honor', 'expired_card', 'incorrect_cvc', 'incorrect_number', 'incorrect_pin', 'invalid_account', 'account_closed', 'lost_card', 'stolen_card', 'pickup_card', 'restricted_card', 'fraudulent', 'card_not_supported', 'currency_not_supported', 'card_velocity_exceeded', 'withdrawal_limit_exceeded', 'authentication_failed', 'issuer_not_available', 'processing_error', 'try_again_later', 'transaction_not_allowed', 'mandate_revoked'],
    to: ['partially_captured', 'partially_refunded', 'disputed', 'failed', 'pending', 'requires_action', 'processing', 'authorized', 'captured', 'settled', 'refunded', 'charged_back', 'canceled', 'expired'],
  },
  listPaymentProviderEvents: {
    outcome: ['applied', 'ignored', 'duplicate'],
  },
  listTransferProviderEvents: {
    outcome: ['applied', 'ignored', 'duplicate'],
  },
  listRefunds: {
    status: ['pending', 'succeeded', 'failed', 'canceled'],
  },
  advanceRefund: {
    action: ['succeed', 'fail', 'cancel'],
    to: ['pending', 'succeeded', 'failed', 'canceled'],
  },
  listDisputes: {
    status: ['needs_response', 'under_review', 'won', 'lost'],
  },
  advanceDispute: {
    action: ['submit_evidence', 'accept', 'expire', 'win', 'lose', 'escalate'],
    to: ['needs_response', 'under_review', 'won', 'lost'],
  },
  listTransfers: {
    status: ['quoted', 'accepted', 'funded', 'in_review', 'converted', 'sent', 'completed', 'returned', 'refunded', 'canceled', 'expired', 'failed'],
  },
  createTransfer: {
    fundFrom: ['external', 'balance'],
  },
  advanceTransfer: {
    action: ['accept', 'return', 'fail', 'requote', 'fund', 'review', 'release', 'reject', 'convert', 'send', 'complete', 'resend', 'refund', 'cancel', 'expire'],
    to: ['returned', 'refunded', 'failed', 'quoted', 'accepted', 'funded', 'in_review', 'converted', 'sent', 'completed', 'canceled', 'expired'],
  },
  getReconciliation: {
    result: ['matched', 'amount_mismatch', 'missing_at_provider', 'missing_in_ledger', 'duplicate'],
  },
  listCustomers: {
    status: ['active', 'archived'],
  },
  createWebhook: {
    eventTypes: ['*', 'webhook.*', 'customer.*', 'payment.*', 'refund.*', 'dispute.*', 'transfer.*', 'webhook.disabled', 'webhook.tested', 'webhook.deleted', 'customer.created', 'customer.updated', 'customer.archived', 'payment.created', 'payment.requires_action', 'payment.processing', 'payment.authorized', 'payment.captured', 'payment.partially_captured', 'payment.settled', 'payment.failed', 'payment.pending', 'payment.canceled', 'payment.expired', 'payment.partially_refunded', 'payment.refunded', 'payment.disputed', 'payment.updated', 'payment.charged_back', 'refund.created', 'refund.succeeded', 'refund.failed', 'refund.canceled', 'dispute.created', 'dispute.under_review', 'dispute.lost', 'dispute.won', 'dispute.needs_response', 'transfer.quoted', 'transfer.accepted', 'transfer.funded', 'transfer.in_review', 'transfer.failed', 'transfer.converted', 'transfer.sent', 'transfer.completed', 'transfer.returned', 'transfer.refunded', 'transfer.canceled', 'transfer.expired'],
    retryProfile: ['standard', 'fast', 'none'],
  },
  listWebhooks: {
    status: ['enabled', 'disabled', 'deleted'],
  },
  openWebhookInbox: {
    eventTypes: ['*', 'webhook.*', 'customer.*', 'payment.*', 'refund.*', 'dispute.*', 'transfer.*', 'webhook.disabled', 'webhook.tested', 'webhook.deleted', 'customer.created', 'customer.updated', 'customer.archived', 'payment.created', 'payment.requires_action', 'payment.processing', 'payment.authorized', 'payment.captured', 'payment.partially_captured', 'payment.settled', 'payment.failed', 'payment.pending', 'payment.canceled', 'payment.expired', 'payment.partially_refunded', 'payment.refunded', 'payment.disputed', 'payment.updated', 'payment.charged_back', 'refund.created', 'refund.succeeded', 'refund.failed', 'refund.canceled', 'dispute.created', 'dispute.under_review', 'dispute.lost', 'dispute.won', 'dispute.needs_response', 'transfer.quoted', 'transfer.accepted', 'transfer.funded', 'transfer.in_review', 'transfer.failed', 'transfer.converted', 'transfer.sent', 'transfer.completed', 'transfer.returned', 'transfer.refunded', 'transfer.canceled', 'transfer.expired'],
    retryProfile: ['standard', 'fast', 'none'],
    type: ['respond', 'timeout'],
  },
  updateWebhook: {
    eventTypes: ['*', 'webhook.*', 'customer.*', 'payment.*', 'refund.*', 'dispute.*', 'transfer.*', 'webhook.disabled', 'webhook.tested', 'webhook.deleted', 'customer.created', 'customer.updated', 'customer.archived', 'payment.created', 'payment.requires_action', 'payment.processing', 'payment.authorized', 'payment.captured', 'payment.partially_captured', 'payment.settled', 'payment.failed', 'payment.pending', 'payment.canceled', 'payment.expired', 'payment.partially_refunded', 'payment.refunded', 'payment.disputed', 'payment.updated', 'payment.charged_back', 'refund.created', 'refund.succeeded', 'refund.failed', 'refund.canceled', 'dispute.created', 'dispute.under_review', 'dispute.lost', 'dispute.won', 'dispute.needs_response', 'transfer.quoted', 'transfer.accepted', 'transfer.funded', 'transfer.in_review', 'transfer.failed', 'transfer.converted', 'transfer.sent', 'transfer.completed', 'transfer.returned', 'transfer.refunded', 'transfer.canceled', 'transfer.expired'],
    retryProfile: ['standard', 'fast', 'none'],
    type: ['respond', 'timeout'],
  },
  testWebhook: {
    type: ['webhook.disabled', 'webhook.tested', 'webhook.deleted', 'customer.created', 'customer.updated', 'customer.archived', 'payment.created', 'payment.requires_action', 'payment.processing', 'payment.authorized', 'payment.captured', 'payment.partially_captured', 'payment.settled', 'payment.failed', 'payment.pending', 'payment.canceled', 'payment.expired', 'payment.partially_refunded', 'payment.refunded', 'payment.disputed', 'payment.updated', 'payment.charged_back', 'refund.created', 'refund.succeeded', 'refund.failed', 'refund.canceled', 'dispute.created', 'dispute.under_review', 'dispute.lost', 'dispute.won', 'dispute.needs_response', 'transfer.quoted', 'transfer.accepted', 'transfer.funded', 'transfer.in_review', 'transfer.failed', 'transfer.converted', 'transfer.sent', 'transfer.completed', 'transfer.returned', 'transfer.refunded', 'transfer.canceled', 'transfer.expired'],
  },
  examineWebhook: {
    cases: ['valid_signature', 'missing_signature', 'wrong_signature', 'other_secret', 'tampered_body', 'partial_signature', 'other_algorithm', 'no_leaks', 'malformed_signature', 'unknown_version', 'missing_id', 'missing_timestamp', 'stale_timestamp', 'future_timestamp', 'raw_body', 'rotated_secret', 'duplicate', 'disorder', 'unknown_type', 'extra_fields', 'split_body', 'quick_answer', 'burst', 'large_payload', 'get_request'],
    eventType: ['webhook.disabled', 'webhook.tested', 'webhook.deleted', 'customer.created', 'customer.updated', 'customer.archived', 'payment.created', 'payment.requires_action', 'payment.processing', 'payment.authorized', 'payment.captured', 'payment.partially_captured', 'payment.settled', 'payment.failed', 'payment.pending', 'payment.canceled', 'payment.expired', 'payment.partially_refunded', 'payment.refunded', 'payment.disputed', 'payment.updated', 'payment.charged_back', 'refund.created', 'refund.succeeded', 'refund.failed', 'refund.canceled', 'dispute.created', 'dispute.under_review', 'dispute.lost', 'dispute.won', 'dispute.needs_response', 'transfer.quoted', 'transfer.accepted', 'transfer.funded', 'transfer.in_review', 'transfer.failed', 'transfer.converted', 'transfer.sent', 'transfer.completed', 'transfer.returned', 'transfer.refunded', 'transfer.canceled', 'transfer.expired'],
  },
  createWebhookEvent: {
    type: ['webhook.disabled', 'webhook.tested', 'webhook.deleted', 'customer.created', 'customer.updated', 'customer.archived', 'payment.created', 'payment.requires_action', 'payment.processing', 'payment.authorized', 'payment.captured', 'payment.partially_captured', 'payment.settled', 'payment.failed', 'payment.pending', 'payment.canceled', 'payment.expired', 'payment.partially_refunded', 'payment.refunded', 'payment.disputed', 'payment.updated', 'payment.charged_back', 'refund.created', 'refund.succeeded', 'refund.failed', 'refund.canceled', 'dispute.created', 'dispute.under_review', 'dispute.lost', 'dispute.won', 'dispute.needs_response', 'transfer.quoted', 'transfer.accepted', 'transfer.funded', 'transfer.in_review', 'transfer.failed', 'transfer.converted', 'transfer.sent', 'transfer.completed', 'transfer.returned', 'transfer.refunded', 'transfer.canceled', 'transfer.expired'],
  },
  listWebhookEvents: {
    type: ['webhook.disabled', 'webhook.tested', 'webhook.deleted', 'customer.created', 'customer.updated', 'customer.archived', 'payment.created', 'payment.requires_action', 'payment.processing', 'payment.authorized', 'payment.captured', 'payment.partially_captured', 'payment.settled', 'payment.failed', 'payment.pending', 'payment.canceled', 'payment.expired', 'payment.partially_refunded', 'payment.refunded', 'payment.disputed', 'payment.updated', 'payment.charged_back', 'refund.created', 'refund.succeeded', 'refund.failed', 'refund.canceled', 'dispute.created', 'dispute.under_review', 'dispute.lost', 'dispute.won', 'dispute.needs_response', 'transfer.quoted', 'transfer.accepted', 'transfer.funded', 'transfer.in_review', 'transfer.failed', 'transfer.converted', 'transfer.sent', 'transfer.completed', 'transfer.returned', 'transfer.refunded', 'transfer.canceled', 'transfer.expired'],
    resource: ['webhook', 'customer', 'payment', 'refund', 'dispute', 'transfer'],
  },
  listWebhookDeliveries: {
    status: ['pending', 'succeeded', 'failed'],
  },
  replayWebhookDeliveries: {
    select: ['failed', 'missing', 'all'],
  },
  listWebhookReplays: {
    status: ['running', 'completed'],
  },
  listRequests: {
    scope: ['application', 'organization'],
    method: ['GET', 'HEAD', 'POST'],
  },
  listAuditEntries: {
    outcome: ['accepted', 'refused'],
  },
  getCoverage: {
    kind: ['state', 'move', 'event', 'operation', 'error'],
    resource: ['webhook', 'customer', 'payment', 'refund', 'dispute', 'transfer'],
  },
  createFaultPlan: {
    on: ['requests', 'webhooks'],
    operations: ['listPayments', 'createPayment', 'retrievePayment', 'updatePayment', 'advancePayment', 'listPaymentHistory', 'listTransferHistory', 'listPaymentProviderEvents', 'listTransferProviderEvents', 'refundPayment', 'listRefunds', 'retrieveRefund', 'advanceRefund', 'listDisputes', 'retrieveDispute', 'advanceDispute', 'listTransfers', 'createTransfer', 'retrieveTransfer', 'advanceTransfer', 'listFxRates', 'getBalances', 'listLedgerEntries', 'listPaymentLedgerEntries', 'listTransferLedgerEntries', 'listSettlements', 'retrieveSettlement', 'getReconciliation', 'createCustomer', 'listCustomers', 'retrieveCustomer', 'updateCustomer', 'archiveCustomer', 'createWebhook', 'openWebhookInbox', 'listWebhooks', 'retrieveWebhook', 'updateWebhook', 'rotateWebhookSecret', 'disableWebhook', 'enableWebhook', 'deleteWebhook', 'testWebhook', 'examineWebhook', 'createWebhookEvent', 'listWebhookEvents', 'streamWebhookEvents', 'retrieveWebhookEvent', 'replayWebhookEvent', 'listWebhookDeliveries', 'retrieveWebhookDelivery', 'replayWebhookDeliveries', 'listWebhookReplays', 'retrieveWebhookReplay'],
    methods: ['GET', 'POST'],
    type: ['latency', 'error', 'reset_connection', 'lose_answer', 'duplicate', 'reorder', 'delay', 'drop'],
    code: ['rate_limited', 'internal_error', 'service_unavailable'],
    eventTypes: ['*', 'webhook.*', 'customer.*', 'payment.*', 'refund.*', 'dispute.*', 'transfer.*', 'webhook.disabled', 'webhook.tested', 'webhook.deleted', 'customer.created', 'customer.updated', 'customer.archived', 'payment.created', 'payment.requires_action', 'payment.processing', 'payment.authorized', 'payment.captured', 'payment.partially_captured', 'payment.settled', 'payment.failed', 'payment.pending', 'payment.canceled', 'payment.expired', 'payment.partially_refunded', 'payment.refunded', 'payment.disputed', 'payment.updated', 'payment.charged_back', 'refund.created', 'refund.succeeded', 'refund.failed', 'refund.canceled', 'dispute.created', 'dispute.under_review', 'dispute.lost', 'dispute.won', 'dispute.needs_response', 'transfer.quoted', 'transfer.accepted', 'transfer.funded', 'transfer.in_review', 'transfer.failed', 'transfer.converted', 'transfer.sent', 'transfer.completed', 'transfer.returned', 'transfer.refunded', 'transfer.canceled', 'transfer.expired'],
  },
  listFaultPlans: {
    status: ['active', 'exhausted', 'canceled'],
  },
} as const;

export const currencies = ['AED', 'AFN', 'ALL', 'AMD', 'AOA', 'ARS', 'AUD', 'AWG', 'AZN', 'BAM', 'BBD', 'BDT', 'BHD', 'BIF', 'BMD', 'BND', 'BOB', 'BRL', 'BSD', 'BTN', 'BWP', 'BYN', 'BZD', 'CAD', 'CDF', 'CHF', 'CLP', 'CNY', 'COP', 'CRC', 'CUP', 'CVE', 'CZK', 'DJF', 'DKK', 'DOP', 'DZD', 'EGP', 'ERN', 'ETB', 'EUR', 'FJD', 'FKP', 'GBP', 'GEL', 'GHS', 'GIP', 'GMD', 'GNF', 'GTQ', 'GYD', 'HKD', 'HNL', 'HTG', 'HUF', 'IDR', 'ILS', 'INR', 'IQD', 'IRR', 'ISK', 'JMD', 'JOD', 'JPY', 'KES', 'KGS', 'KHR', 'KMF', 'KPW', 'KRW', 'KWD', 'KYD', 'KZT', 'LAK', 'LBP', 'LKR', 'LRD', 'LSL', 'LYD', 'MAD', 'MDL', 'MGA', 'MKD', 'MMK', 'MNT', 'MOP', 'MRU', 'MUR', 'MVR', 'MWK', 'MXN', 'MYR', 'MZN', 'NAD', 'NGN', 'NIO', 'NOK', 'NPR', 'NZD', 'OMR', 'PAB', 'PEN', 'PGK', 'PHP', 'PKR', 'PLN', 'PYG', 'QAR', 'RON', 'RSD', 'RUB', 'RWF', 'SAR', 'SBD', 'SCR', 'SDG', 'SEK', 'SGD', 'SHP', 'SLE', 'SOS', 'SRD', 'SSP', 'STN', 'SVC', 'SYP', 'SZL', 'THB', 'TJS', 'TMT', 'TND', 'TOP', 'TRY', 'TTD', 'TWD', 'TZS', 'UAH', 'UGX', 'USD', 'UYU', 'UZS', 'VED', 'VES', 'VND', 'VUV', 'WST', 'XAF', 'XCD', 'XCG', 'XOF', 'XPF', 'YER', 'ZAR', 'ZMW', 'ZWG'] as const;

export const roles = ['viewer', 'developer', 'admin', 'owner'] as const;

export const scopes = ['payments:read', 'payments:write', 'customers:read', 'customers:write', 'transfers:read', 'transfers:write', 'webhooks:read', 'webhooks:write'] as const;

export const transferScenarios = ['approve', 'review', 'reject', 'settle_short', 'settle_missing', 'settle_duplicate', 'settle_unknown'] as const;

/** The API paths without ids, for the commands that send any request. */
export const requestPaths = {
  GET: ['status', 'capabilities', 'state_machines', 'payments', 'refunds', 'disputes', 'transfers', 'fx_rates', 'balances', 'ledger_entries', 'settlements', 'reconciliation', 'customers', 'clock', 'webhooks', 'webhook_events', 'webhook_deliveries', 'webhook_replays', 'requests', 'audit_entries', 'audit_entries/verify', 'coverage', 'fault_plans'],
  POST: ['payments', 'transfers', 'customers', 'clock/advance', 'clock/freeze', 'clock/resume', 'clock/reset', 'webhooks', 'webhook_inbox', 'webhook_events', 'webhook_deliveries/replay', 'coverage/reset', 'reset', 'fault_plans'],
} as const;
