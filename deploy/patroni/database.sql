-- The role and the database of Sandbank. Run it once, on the primary, as the superuser.
create role sandbank login password 'change-this-password';
create database sandbank owner sandbank;
