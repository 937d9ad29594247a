import CoreData

#if canImport(FoundationNetworking)
    import FoundationNetworking  // because URLSession is in a separate module outside Apple's platforms
#endif

/// Synchronous requests to a service.
struct ServiceConnection {
    let base: URL

    /// The JSON in the answer to a request.
    func json(_ method: String, _ path: String, query: [URLQueryItem] = []) throws -> Any {
        try JSONSerialization.jsonObject(with: answer(request(method, path, query)), options: .fragmentsAllowed)
    }

    /// Sends values that are based on a version of the object; throws if JSON cannot represent them.
    func send(_ method: String, _ path: String, _ version: UInt64, _ values: [String: Any]? = nil) throws {
        var request = try request(method, path)
        request.setValue("\(version)", forHTTPHeaderField: "If-Match")
        guard values.map(JSONSerialization.isValidJSONObject) ?? true else {
            throw CocoaError(.propertyListWriteInvalid, userInfo: [NSURLErrorKey: base])
        }
        request.httpBody = try values.map { try JSONSerialization.data(withJSONObject: $0) }
        _ = try answer(request)
    }

    private func request(_ method: String, _ path: String, _ query: [URLQueryItem] = []) throws -> URLRequest {
        var components = URLComponents(url: base.appendingPathComponent(path), resolvingAgainstBaseURL: false)
        if !query.isEmpty { components?.queryItems = query }
        guard let url = components?.url else { throw URLError(.badURL) }
        var request = URLRequest(url: url, timeoutInterval: 10)
        request.httpMethod = method
        return request
    }

    private func answer(_ request: URLRequest) throws -> Data {
        /// The result, which the session's thread sets.
        final class Answer: @unchecked Sendable {  // because it is read after the semaphore's signal, and set before
            var result: Result<(Data, Int), any Error> = .failure(URLError(.unknown))
        }
        let answer = Answer()
        let done = DispatchSemaphore(value: 0)
        URLSession.shared.dataTask(with: request) { data, response, error in
            answer.result =
                error.map { .failure($0) }
                ?? .success((data ?? Data(), (response as? HTTPURLResponse)?.statusCode ?? 0))
            done.signal()
        }.resume()
        done.wait()
        let (data, status) = try answer.result.get()
        switch status {
        case 200..<300: return data
        case 404: throw StoreFailure.missing
        case 409, 412: throw StoreFailure.conflict
        default:
            throw CocoaError(
                .fileReadUnknown,
                userInfo: [
                    NSLocalizedDescriptionKey: "The service answers with status \(status).", NSURLErrorKey: base,
                ])
        }
    }
}
