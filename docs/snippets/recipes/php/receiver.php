<?php
// A receiver in PHP without a framework: WEBHOOK_SECRET=whsec_... php -S 127.0.0.1:3000 receiver.php
declare(strict_types=1);

const TOLERANCE_SECONDS = 300;
const BODY_BYTES_MAX = 1_000_000;

function respond(int $status): never
{
    http_response_code($status);
    exit;
}

/** In production, insert the id into a table with a unique index, in the transaction that does the work. */
function isNew(string $eventId): bool
{
    $folder = sys_get_temp_dir() . '/webhook-events';
    if (!is_dir($folder)) @mkdir($folder, 0700);
    // Mode x fails if the file exists, so of two concurrent requests only one succeeds.
    return @fopen($folder . '/' . hash('sha256', $eventId), 'x') !== false;
}

function isSigned(string $secret, string $body): bool
{
    $id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
    $timestamp = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
    if ($id === '' || !ctype_digit($timestamp)) return false;
    if (abs(time() - (int) $timestamp) > TOLERANCE_SECONDS) return false;
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $secret, true));
    // One signature for each secret: two during a secret rotation.
    foreach (explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '') as $signature) {
        if (hash_equals($expected, $signature)) return true;
    }
    return false;
}

$secret = base64_decode(preg_replace('/^whsec_/', '', (string) getenv('WEBHOOK_SECRET')), true);
if ($secret === false || $secret === '') {
    error_log('Set WEBHOOK_SECRET to the signing secret of the endpoint (whsec_...).');
    respond(500);
}
if (parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH) !== '/webhooks') respond(404);
if ($_SERVER['REQUEST_METHOD'] !== 'POST') {
    header('Allow: POST');
    respond(405);
}
// Verify the raw bytes: a parsed and re-serialized body has another signature.
$body = file_get_contents('php://input', length: BODY_BYTES_MAX + 1);
if (strlen($body) > BODY_BYTES_MAX) respond(413);
if (!isSigned($secret, $body)) respond(401);
$event = json_decode($body, true);
if (!is_array($event)) respond(400);
// The same event can arrive twice, after a retry or a replay. Its id stays the same.
if (isNew($event['id'])) {
    file_put_contents('php://stdout', "{$event['type']} {$event['id']}\n"); // Hand slow work to a queue: respond first.
}
respond(204);
