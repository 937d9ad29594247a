import CoreData

/// The attributes of a request for dictionaries.
enum FetchedAttributes {
    /// - Throws: Code 134060 for features that these stores do not support: groups, expressions, key paths, and
    ///   distinct results.
    static func names(of request: NSFetchRequest<NSFetchRequestResult>, _ entity: NSEntityDescription) throws
        -> [String]
    {
        guard request.propertiesToGroupBy?.isEmpty ?? true, !request.returnsDistinctResults else {
            throw StoreFailure.notCarriedOut("Dictionaries are not grouped, and not made distinct.")
        }
        return try (request.propertiesToFetch ?? Array(entity.attributesByName.keys)).map { property in
            guard let name = (property as? NSPropertyDescription)?.name ?? property as? String,
                entity.attributesByName[name] != nil
            else { throw StoreFailure.notCarriedOut("Dictionaries have values of attributes only.") }
            return name
        }
    }
}
