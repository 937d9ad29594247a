// Tools for stores in databases, which programs that only use a store do not link. Reading begins here.
//
// - `Checking`: the problems of rows and tables (`RowCheck`), with their repair.
// - `Examination`: what makes a file large or slow (`StoreExamination`), and its cures (`StoreTreatment`).
// - `Salvage`: a new store of the rows of a damaged one (`RowSalvage`).
// - `StoreTables`: the tables of a store with the names of the model, for SQL of other programs.
