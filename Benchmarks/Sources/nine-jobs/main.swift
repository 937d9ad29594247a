import NotesWorkload

// nine-jobs JOB NOTES ITEMS TAGS DB JSON: runs one job of the workload in a process of its own. Prints seconds and a
// check value.

try JobArguments.run("nine-jobs") { arguments in
    let jobs = try Jobs(arguments)
    let check = try jobs.run(arguments.job)
    try jobs.close()
    return (check, jobs)
}
