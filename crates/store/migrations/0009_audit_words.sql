-- The command line and the console wrote other words than the API for the same deeds: one word each.
update audit set action = 'key.created' where action = 'key.create';
update audit set action = 'key.revoked' where action = 'key.revoke';
update audit set action = 'key.rotated' where action = 'key.rotate';
update audit set action = 'account.created' where action = 'account.create';
update audit set action = 'account.confirmed' where action = 'account.confirm';
update audit set action = 'account.deleted' where action = 'account.delete';
update audit set action = 'password.reset' where action = 'account.reset_password';
update audit set action = 'workspace.created' where action = 'workspace.create';
update audit set action = 'workspace.credited' where action = 'workspace.credit';
update audit set action = 'workspace.bootstrapped' where action = 'workspace.bootstrap';
update audit set action = 'workspace.changed' where action = 'workspace.renamed';
update audit set action = 'workspace.changed' where action = 'workspace.alert';
