#if PostgreSQL
    import PostgreSQLClient

    extension PostgreSQLTables {
        /// Ends the connections of other processes, and locks the metadata: new connections wait for the commit, because they
        /// read the metadata first.
        func lockOutOthers(in connection: PostgreSQLConnection) throws {
            func end() throws {
                try connection.execute(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 \
                    AND datname = current_database() AND pid <> pg_backend_pid()
                    """, [.text(location.applicationName)])
            }
            for attempt in 1... {
                try end()
                do {
                    // A connection that was made meanwhile may hold the table for a long time.
                    try connection.execute(
                        script: "SAVEPOINT locking; SET LOCAL lock_timeout TO 200; "
                            + "LOCK TABLE Z_METADATA IN ACCESS EXCLUSIVE MODE; RESET lock_timeout")
                    return try end()
                } catch let error as PostgreSQLError where error.state == "55P03" && attempt < 50 {
                    try connection.execute(script: "ROLLBACK TO SAVEPOINT locking")
                }
            }
        }
    }
#endif
