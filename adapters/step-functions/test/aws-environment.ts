/** What AWS' clients look for; local engines take any. */
process.env.AWS_ACCESS_KEY_ID = "test";
process.env.AWS_SECRET_ACCESS_KEY = "test";
process.env.AWS_REGION = "eu-west-1";
// Not to be asked for credentials on machines of AWS.
process.env.AWS_EC2_METADATA_DISABLED = "true";
